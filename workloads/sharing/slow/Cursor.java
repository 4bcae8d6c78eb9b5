/** Where a thread is in its input: a small object. */
final class Cursor {
    int step = 7; // set once
    int lines;
    long position;
}
