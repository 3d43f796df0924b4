"""Guests: a distribution's own kernel and programs in a virtual machine, where real drivers meet virtual chips.

* :mod:`txop.guest_image` makes the image: packages pinned by hash, programs, kernel modules, an initramfs;
* :mod:`~txop.guest.driver` builds a driver from the distribution's kernel source, with patches;
* :mod:`~txop.guest.running` starts QEMU, and :mod:`~txop.guest.results` reads what a guest outputs;
* :mod:`txop.guest_trials` tries what a driver does when a device fails, comes and goes, or lasts.

Nothing here needs root, device nodes or a network in the guest.
"""
