/* SPDX-FileCopyrightText: 2026 The maixmem authors */
/* SPDX-License-Identifier: MIT */
/* A display's DRM calls, as libmpimmz makes them, over the bench's NPU driver: a dumb buffer is one of its buffers, so that
 * its counters see it. To be preloaded before that driver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>

struct dumb { uint32_t height, width, bpp, flags, handle, pitch; uint64_t size; };
struct create { uint32_t handle, flags; uint64_t size, obj_addr, dma_addr, sram_size; };
struct phys { uint32_t handle, address; };
struct prime { uint32_t handle, flags; int32_t fd; };

#define HANDLES 4096
#define REQUEST(nr, size) (3ul << 30 | (unsigned long)(size) << 16 | 'd' << 8 | (nr))
#define CREATE_DUMB REQUEST(0xb2, sizeof(struct dumb))
#define DESTROY_DUMB REQUEST(0xb4, sizeof(uint32_t))
#define GET_PHYS REQUEST(0x44, sizeof(struct phys)) /* the NPU's own call of this number has another size */
#define NPU_CREATE REQUEST(0x42, sizeof(struct create))
#define GEM_CLOSE (1ul << 30 | 8ul << 16 | 'd' << 8 | 0x09)

#define FD_TO_HANDLE REQUEST(0x2e, sizeof(struct prime))
#define NPU_DESTROY REQUEST(0x44, 16)

static int (*next)(int, unsigned long, ...);

/* A dumb buffer: what the NPU's driver said of it, and which of its two users, by their open files, still have it. Handles
 * are numbers of an open file; the bench's driver has one table for all, so the two are kept apart here. */
static struct { struct create made; int owner, importer; } dumbs[HANDLES];

static int close_dumb(int fd, uint32_t handle)
{
    uint32_t close[2] = {handle, 0};
    if (dumbs[handle].owner == fd) dumbs[handle].owner = 0;
    else dumbs[handle].importer = 0;
    if (dumbs[handle].owner || dumbs[handle].importer) return 0;
    dumbs[handle].made.handle = 0;
    return next(fd, GEM_CLOSE, close);
}

static int make_dumb(int fd, struct dumb *d)
{
    struct create c = {0};
    c.size = ((uint64_t)d->height * d->width * d->bpp / 8 + 4095) / 4096 * 4096;
    if (next(fd, NPU_CREATE, &c)) return -1;
    dumbs[c.handle].made = c;
    dumbs[c.handle].owner = fd;
    d->handle = c.handle;
    d->pitch = d->width * d->bpp / 8;
    d->size = c.size;
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!next) next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    request &= 0xfffffffful;
    if ((request >> 8 & 0xff) == 'b') return 0; /* DMA_BUF_IOCTL_SYNC: no caches here */
    if (request == CREATE_DUMB) return make_dumb(fd, argument);
    if ((request >> 8 & 0xff) != 'd' || !argument) return next(fd, request, argument);
    uint32_t handle = *(uint32_t *)argument;
    int known = handle && handle < HANDLES && dumbs[handle].made.handle;
    if (request == FD_TO_HANDLE) {
        int code = next(fd, request, argument);
        handle = *(uint32_t *)argument;
        if (code == 0 && handle < HANDLES && dumbs[handle].made.handle) dumbs[handle].importer = fd;
        return code;
    }
    if (known && request == GET_PHYS) {
        ((struct phys *)argument)->address = (uint32_t)dumbs[handle].made.dma_addr;
        return 0;
    }
    if (known && request == NPU_CREATE) { /* of a handle that is there, the driver tells what it is */
        *(struct create *)argument = dumbs[handle].made;
        return 0;
    }
    if (known && (request == DESTROY_DUMB || request == GEM_CLOSE || request == NPU_DESTROY))
        return close_dumb(fd, handle);
    return next(fd, request, argument);
}
