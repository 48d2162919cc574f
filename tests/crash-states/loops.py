"""Loop devices that vanish with the process: the kernel detaches them at the last close."""
import errno, fcntl, os, struct

LOOP_CONFIGURE, LOOP_CTL_GET_FREE = 0x4C0A, 0x4C82
AUTOCLEAR = 4
# struct loop_config of linux/loop.h: fd, block size, struct loop_info64 with its flags at byte 52, reserved.
CONFIG_BYTES, FLAGS_AT = 8 + 232 + 64, 8 + 52


class Loop:
    def __init__(self, file, block_size=512):
        self.file, self.block_size = file, block_size

    def __enter__(self):
        config = bytearray(CONFIG_BYTES)
        struct.pack_into("<II", config, 0, self.file, self.block_size)
        struct.pack_into("<I", config, FLAGS_AT, AUTOCLEAR)
        with open("/dev/loop-control", "rb", buffering=0) as control:
            while True:
                path = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
                self.device = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.ioctl(self.device, LOOP_CONFIGURE, config)
                    return path
                except OSError as error:
                    os.close(self.device)
                    # Another process took it.
                    if error.errno != errno.EBUSY:
                        raise

    def __exit__(self, *_):
        os.close(self.device)
