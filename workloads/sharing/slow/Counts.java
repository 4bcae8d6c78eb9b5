/** What two threads count, in neighbouring fields. */
final class Counts {
    volatile long read, written;
}
