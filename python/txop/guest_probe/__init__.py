"""What a virtual device answers while its driver probes it, and that as seeds of a fuzzer."""
