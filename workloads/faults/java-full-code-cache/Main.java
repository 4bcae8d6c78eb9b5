import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles small sources with the JDK's compiler, a program with a lot of warm code. Both variants are the same, only the options differ. */
public final class Main {
    static JavaFileObject source(int number) {
        StringBuilder text = new StringBuilder("import java.util.*; class S" + number + " {\n");
        for (int i = 0; i < 12; i++) {
            text.append("  static <T extends Comparable<T>> int m" + i + "(List<T> all, int n) {\n"
                + "    Map<String, List<T>> by = new TreeMap<>();\n"
                + "    for (T t : all) by.computeIfAbsent(t.toString().substring(0, Math.min(n, 3)), k -> new ArrayList<>()).add(t);\n"
                + "    return by.values().stream().filter(l -> l.size() > " + i + ").mapToInt(l -> l.get(0).compareTo(l.get(l.size() - 1))).sum();\n  }\n");
        }
        String code = text.append("}\n").toString();
        return new SimpleJavaFileObject(URI.create("string:///S" + number + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignored) {
                return code;
            }
        };
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Frame.run("compile", 1, index -> {
            StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
            List<String> options = new ArrayList<>(List.of("-proc:none", "-implicit:none"));
            var task = (com.sun.source.util.JavacTask) compiler.getTask(null, files, null, options, null, List.of(source((int) Frame.done.sum() % 64)));
            try {
                task.parse();
                task.analyze();
            } catch (java.io.IOException e) {
                throw new IllegalStateException(e);
            }
        });
        Frame.lostShare(1);
    }
}
