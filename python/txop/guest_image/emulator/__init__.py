"""The emulator that guests run on: one QEMU, pinned by hash, and the devices that a C file of txop's adds to it.

QEMU, its libraries and its firmware are a distribution's packages, unpacked and run by their own dynamic linker, so
that every machine runs the same bytes. The object with txop's devices is compiled on this machine, with a pinned
compiler, against the headers of exactly that QEMU, out of the distribution's source package.

* :mod:`~txop.guest_image.emulator.lock` is the pinned list; :mod:`~txop.guest_image.emulator.pin` makes one;
* :mod:`~txop.guest_image.emulator.source` fetches the source, :mod:`~txop.guest_image.emulator.headers` takes what is
  compiled against out of it;
* :mod:`~txop.guest_image.emulator.shim` compiles the object, :mod:`~txop.guest_image.emulator.qemu` starts
  QEMU with it.
"""
