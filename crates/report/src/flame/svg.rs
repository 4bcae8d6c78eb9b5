//! A flame graph as a still picture: no script, no links. What a name lacks in room the tooltip of the viewer says.

use super::Graph;
use query::human;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const ROW: f64 = 16.0;
/// Width of a letter of a monospaced font of 11 px, rounded up.
const LETTER: f64 = 6.7;
/// What is narrower is left out, with what lies below it.
const LEAST: f64 = 0.4;

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // XML knows no way to write control characters.
            c if model::is_harmful(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// FNV-1a: a function has the same shade in every picture.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

fn kind_fill(kind: &str, name: &str) -> String {
    let (hue, saturation) = match kind {
        "native" => (36, 82),
        "kernel" => (214, 66),
        "jit" => (128, 44),
        "c1" => (92, 40),
        "interpreted" | "python" => (168, 46),
        "inlined" => (54, 70),
        "class" => (286, 38),
        "state" | "process" | "thread" | "lock" => (210, 10),
        _ => (40, 25),
    };
    let shade = hash(name) % 6;
    format!("hsl({},{saturation}%,{}%)", hue + shade * 2, 72 + shade * 2)
}

/// Blue for less, grey for the same, orange-red for more; the change as a share of the greater.
fn change_fill(before: f64, after: f64) -> String {
    let greater = before.max(after);
    let by = if greater > 0.0 { (after - before) / greater } else { 0.0 };
    let size = by.abs().min(1.0);
    format!("hsl({},{:.0}%,{:.0}%)", if by < 0.0 { 212 } else { 12 }, size * 78.0, 91.0 - size * 23.0)
}

/// The picture. With two runs the width is the mean of both, so that what only one has is seen.
pub fn svg(graph: &Graph<'_>) -> String {
    if graph.reverse {
        return svg(&Graph { tree: &graph.tree.reversed(), reverse: false, ..*graph });
    }
    let tree = graph.tree;
    let totals: Vec<Vec<f64>> = (0..tree.runs()).map(|run| tree.totals(run)).collect();
    let of = |run: usize, node: u32| totals.get(run).and_then(|t| t.get(node as usize)).copied().unwrap_or(0.0);
    let mean = |node: u32| (0..tree.runs()).map(|run| of(run, node)).sum::<f64>() / tree.runs().max(1) as f64;
    let whole = mean(0);
    let scale = if whole > 0.0 { WIDTH / whole } else { 0.0 };
    let mut callees = vec![Vec::new(); tree.len()];
    for node in 1..tree.len() as u32 {
        if mean(node) * scale >= LEAST
            && let Some(list) = callees.get_mut(tree.parent(node) as usize)
        {
            list.push(node);
        }
    }
    let name = |node: u32| tree.frame(node).map_or("all", |f| &*f.name);
    for list in &mut callees {
        list.sort_by(|&a, &b| name(a).cmp(name(b)).then(a.cmp(&b)));
    }
    let top = 30.0 + 16.0 * graph.notes.len() as f64;
    let mut boxes = String::new();
    let (mut deepest, mut open) = (0usize, vec![(0u32, 0.0f64, 0usize)]);
    while let Some((node, x, depth)) = open.pop() {
        deepest = deepest.max(depth);
        draw(&mut boxes, graph, node, &of, (x, top + depth as f64 * ROW, mean(node) * scale));
        let mut at = x;
        let mut below: Vec<(u32, f64, usize)> = Vec::new();
        for &callee in callees.get(node as usize).into_iter().flatten() {
            below.push((callee, at, depth + 1));
            at += mean(callee) * scale;
        }
        open.extend(below.into_iter().rev());
    }
    let height = top + (deepest + 1) as f64 * ROW + 8.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 0 {} {height}\" width=\"{}\" height=\"{height}\" font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"11\">\n\
         <rect x=\"-8\" width=\"{}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"0\" y=\"19\" font-size=\"15\" font-weight=\"600\" fill=\"#16202b\">{}</text>\n",
        WIDTH + 16.0,
        WIDTH + 16.0,
        WIDTH + 16.0,
        escape(graph.title)
    );
    for (i, note) in graph.notes.iter().enumerate() {
        let _ = writeln!(out, "<text x=\"0\" y=\"{}\" fill=\"#56626f\">{}</text>", 36 + 16 * i, escape(note));
    }
    out.push_str(&boxes);
    out.push_str("</svg>\n");
    out
}

fn draw(
    out: &mut String,
    graph: &Graph<'_>,
    node: u32,
    of: &dyn Fn(usize, u32) -> f64,
    (x, y, width): (f64, f64, f64),
) {
    let tree = graph.tree;
    let frame = tree.frame(node);
    let name = frame.map_or("all", |f| &*f.name);
    let fill = match (frame, tree.runs()) {
        (_, 2..) => change_fill(of(0, node), of(1, node)),
        (Some(f), _) => kind_fill(&f.kind, name),
        (None, _) => "hsl(210,8%,86%)".into(),
    };
    let weights: Vec<String> = (0..tree.runs())
        .map(|run| {
            let (part, all) = (of(run, node), of(run, 0));
            let share = if all > 0.0 { human(part / all, "ratio") } else { "-".into() };
            let of = if tree.runs() > 1 {
                graph.runs.get(run).map_or(String::new(), |r| format!("{r}: "))
            } else {
                String::new()
            };
            format!("{of}{} ({share})", human(part, graph.unit))
        })
        .collect();
    let module = frame.filter(|f| !f.module.is_empty()).map_or(String::new(), |f| format!(" [{}]", f.module));
    let gap = if width > 3.0 { 0.7 } else { 0.0 };
    let _ = write!(
        out,
        "<g><title>{}{}\n{}</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{fill}\"/>",
        escape(name),
        escape(&module),
        escape(&weights.join(", ")),
        width - gap,
        ROW - 1.0
    );
    let room = ((width - 6.0) / LETTER).floor();
    if room >= 3.0 {
        let room = room as usize;
        let text: String = if name.chars().count() <= room {
            name.to_owned()
        } else {
            name.chars().take(room - 1).chain(std::iter::once('…')).collect()
        };
        let _ = write!(out, "<text x=\"{:.1}\" y=\"{}\" fill=\"#16202b\">{}</text>", x + 3.0, y + 11.5, escape(&text));
    }
    out.push_str("</g>\n");
}
