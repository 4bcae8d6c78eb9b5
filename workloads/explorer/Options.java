import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Options of the command line, as `--name value`. */
final class Options {
    private final Map<String, String> given = new HashMap<>();
    private final Set<String> known = new HashSet<>();

    Options(String[] words) {
        for (int i = 0; i < words.length; i += 2) {
            if (!words[i].startsWith("--") || i + 1 == words.length) fail(words[i] + ": expected --name value");
            given.put(words[i].substring(2), words[i + 1]);
        }
    }

    String text(String name, String usual) {
        known.add(name);
        return given.getOrDefault(name, usual);
    }

    /** One of some words. */
    String word(String name, String usual, String... words) {
        String word = text(name, usual);
        if (!Arrays.asList(words).contains(word)) fail("--" + name + ": " + word + ": expected " + String.join(" or ", words));
        return word;
    }

    int number(String name, int usual) {
        String text = text(name, Integer.toString(usual));
        try {
            return Integer.parseUnsignedInt(text);
        } catch (NumberFormatException error) {
            fail("--" + name + ": " + text + ": expected a number");
            return 0;
        }
    }

    /** To be called when all were asked for: whatever else was given is an error. */
    void end() {
        for (String name : given.keySet()) {
            if (!known.contains(name)) fail("unknown option --" + name);
        }
    }

    private static void fail(String what) {
        System.err.println("explorer: " + what);
        System.exit(2);
    }
}
