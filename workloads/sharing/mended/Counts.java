import jdk.internal.vm.annotation.Contended;

/** What two threads count, in fields with lines of their own. Runs with -XX:-RestrictContended. */
final class Counts {
    @Contended("read") volatile long read;
    @Contended("written") volatile long written;
}
