"""Guests: a distribution's own kernel and programs in a virtual machine, where real drivers meet virtual chips.

* :mod:`~txop.guest.packages` gets a distribution's packages, pinned by hash, and reads them without installing them;
* :mod:`~txop.guest.image` makes an initramfs of them; :mod:`~txop.guest.modules` says which kernel modules that takes;
* :mod:`~txop.guest.kbuild` builds a driver from the distribution's kernel source, with patches;
* :mod:`~txop.guest.machine` starts QEMU, and :mod:`~txop.guest.results` reads what a guest hands out.

Nothing here needs root, device nodes or a network in the guest.
"""
