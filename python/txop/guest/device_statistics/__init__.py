"""What a virtual USB device has counted: the document of `txop-vusb --stats`, as typed objects (`model.py`)."""
