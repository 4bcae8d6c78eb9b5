import jdk.internal.vm.annotation.Contended;

/** Where a thread is in its input: an object with lines of its own. Runs with -XX:-RestrictContended. */
@Contended
final class Cursor {
    int step = 7; // set once
    int lines;
    long position;
}
