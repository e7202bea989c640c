// The device's memory: its bandwidth, and reading everything else out of its caches.

// b[i] = a[i]: 16 bytes an element.
extern "C" __global__ void memory_copy(u64 pairs, const double2* a, double2* b)
{
    const u64 stride = (u64)gridDim.x * blockDim.x;
    for (u64 i = thread_in_grid(); i < pairs; i += stride) b[i] = a[i];
}

// c[i] = a[i] + s b[i]: 24 bytes an element.
extern "C" __global__ void memory_triad(
    u64 pairs, const double2* a, const double2* b, double2* c, double s)
{
    const u64 stride = (u64)gridDim.x * blockDim.x;
    for (u64 i = thread_in_grid(); i < pairs; i += stride) {
        const double2 p = a[i], q = b[i];
        c[i] = make_double2(p.x + s * q.x, p.y + s * q.y);
    }
}

// Reads a, whose elements are zero, and writes nothing: afterwards the caches hold clean lines of
// a, which cost nobody a write-back.
extern "C" __global__ void memory_read(u64 pairs, const double2* a, double2* never)
{
    const u64 stride = (u64)gridDim.x * blockDim.x;
    double sum = 0;
    for (u64 i = thread_in_grid(); i < pairs; i += stride) sum += a[i].x + a[i].y;
    if (sum != 0) never[0] = make_double2(sum, sum);
}

// Nothing at all: what a launch costs.
extern "C" __global__ void memory_nothing() {}
