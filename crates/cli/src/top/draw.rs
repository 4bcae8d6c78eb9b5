//! The screen of `top` as lines of text: the terminal shows them with colours, `--once` prints them without.

use super::state::{Cpu, Group, Known, State};
use model::StateKind;
use query::human;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use std::collections::VecDeque;

/// What the person chose.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) sort: Sort,
    /// Only groups whose name holds this.
    pub(crate) filter: String,
    pub(crate) by_name: bool,
    pub(crate) paused: bool,
}

/// The order of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// By time on a CPU.
    Running,
    /// By time lost to waiting: run queue, locks, I/O, faults.
    Waiting,
    /// By context switches.
    Switches,
}

impl Sort {
    pub(crate) fn next(self) -> Self {
        match self {
            Sort::Running => Sort::Waiting,
            Sort::Waiting => Sort::Switches,
            Sort::Switches => Sort::Running,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Sort::Running => "running",
            Sort::Waiting => "waiting",
            Sort::Switches => "switches",
        }
    }
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Colours of states that matter, in the order of the ledger: those on a CPU green and blue, waits in warm colours. The harmless are grey.
const COLOURS: [Color; 11] = [
    Color::Green,
    Color::Blue,
    Color::Magenta,
    Color::Yellow,
    Color::LightRed,
    Color::Red,
    Color::Cyan,
    Color::LightCyan,
    Color::LightBlue,
    Color::LightMagenta,
    Color::Gray,
];

/// Whether threads do nothing in it that is worth a place in a bar: they rest, or sleep as they asked to.
fn is_harmless(state: &Known) -> bool {
    matches!(state.kind, StateKind::Sleep | StateKind::Rest)
}

/// States with their colours.
fn coloured(states: &[(Known, f64)]) -> Vec<(Known, f64, Color)> {
    let mut colours = COLOURS.into_iter().cycle();
    let mut of =
        |state: &Known| if is_harmless(state) { Color::DarkGray } else { colours.next().unwrap_or(Color::Gray) };
    states.iter().map(|(state, seconds)| (*state, *seconds, of(state))).collect()
}

fn quiet(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().fg(Color::DarkGray))
}

fn plain(text: impl Into<String>) -> Span<'static> {
    Span::raw(text.into())
}

fn heading(text: &str) -> Line<'static> {
    Line::from(Span::styled(text.to_owned(), Style::new().add_modifier(Modifier::BOLD)))
}

/// At most `width` characters, with an ellipsis for what is cut off; filled up with blanks.
fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        cut.push('…');
    }
    cut
}

fn bars(history: &VecDeque<f64>, width: usize) -> String {
    let skip = history.len().saturating_sub(width);
    let bar = |share: &f64| {
        let at = (share.clamp(0.0, 1.0) * (BARS.len() - 1) as f64).round() as usize;
        BARS.get(at).copied().unwrap_or(' ')
    };
    let drawn: String = history.iter().skip(skip).map(bar).collect();
    format!("{}{drawn}", " ".repeat(width.saturating_sub(history.len())))
}

/// All lines, for a terminal of this size.
pub(crate) fn screen(
    state: &State,
    view: &View,
    title: &str,
    missing: &[String],
    size: (usize, usize),
) -> Vec<Line<'static>> {
    let (width, height) = (size.0.max(40), size.1.max(12));
    let mut lines = vec![Line::from(vec![
        Span::styled(fit(title, width.saturating_sub(12)), Style::new().add_modifier(Modifier::BOLD)),
        if view.paused { Span::styled("paused", Style::new().fg(Color::Red)) } else { plain("") },
    ])];
    cpus(state, width, (height / 4).max(2), &mut lines);
    if state.has_ledger {
        totals(state, width, &mut lines);
    }
    let left = height.saturating_sub(lines.len() + 3 + missing.len().min(2));
    let (hot, locks) = (state.hot(left / 4), state.locks(left / 4));
    let served = state.served(left / 8);
    let groups = left.saturating_sub(hot.len() + locks.len() + served.len() + 4).max(3);
    if state.has_ledger {
        processes(state, view, width, groups, &mut lines);
    }
    if !hot.is_empty() {
        lines.push(Line::default());
        lines.push(heading(&format!("Busiest functions, last {:.0} s", state.span())));
        for hot in hot {
            let module = hot.module.rsplit('/').next().unwrap_or_default().to_owned();
            let callers =
                if hot.callers.is_empty() { String::new() } else { format!(" ← {}", hot.callers.join(" ← ")) };
            let room = width.saturating_sub(8);
            let text = format!("{}{callers}  [{module}]", hot.function);
            lines.push(Line::from(vec![plain(format!("{:5.1} % ", hot.share * 100.0)), plain(fit(&text, room))]));
        }
    }
    if !locks.is_empty() {
        lines.push(Line::default());
        lines.push(heading(&format!("Contended locks, last {:.0} s", state.span())));
        lines.push(Line::from(quiet(format!(
            "{:>9} {:>9} {:>9} {:>7}  {}",
            "waiting", "waits", "longest", "at once", "lock, process, where it is waited for"
        ))));
        for lock in locks {
            let start = format!(
                "{:>9} {:>9} {:>9} {:>7}  ",
                human(lock.time, "s/s"),
                human(lock.count, "1/s"),
                human(lock.longest, "s"),
                lock.waiters
            );
            let mut text = format!("{} ({}) · {}", lock.name, lock.kind, lock.comm);
            if !lock.function.is_empty() {
                text.push_str(&format!(" · {}", lock.function));
            }
            let room = width.saturating_sub(start.chars().count());
            lines.push(Line::from(vec![plain(start), plain(fit(&text, room))]));
        }
    }
    if !served.is_empty() {
        lines.push(Line::default());
        lines.push(heading(&format!("Requests, last {:.0} s", state.span())));
        lines.extend(served.iter().map(|served| Line::from(plain(fit(&served.line(), width)))));
    }
    for why in missing.iter().take(2) {
        lines.push(Line::from(quiet(fit(why, width))));
    }
    lines.truncate(height);
    lines
}

/// A line for each CPU; where they are too many, several in a line.
fn cpus(state: &State, width: usize, rows: usize, lines: &mut Vec<Line<'static>>) {
    let columns = state.cpus.len().div_ceil(rows.max(1)).clamp(1, (width / 20).max(1));
    let room = width / columns;
    let detail = columns == 1 && width >= 90;
    let one = |(number, cpu): &(i64, Cpu)| {
        let [user, kernel, interrupts, steal] = cpu.shares.map(|s| s * 100.0);
        let busy = user + kernel + interrupts + steal;
        let end = if detail {
            format!(" {busy:3.0} %  user {user:.0}  kernel {kernel:.0}  interrupts {interrupts:.0}  stolen {steal:.0}")
        } else {
            format!(" {busy:3.0} %")
        };
        let start = format!("cpu {number:<3} ");
        let bars_width = room.saturating_sub(start.len() + if detail { 58 } else { 7 }).max(4);
        let colour = if busy > 90.0 { Color::Red } else { Color::Green };
        let text = bars(&cpu.history, bars_width);
        [quiet(start), Span::styled(text, Style::new().fg(colour)), plain(fit(&end, if detail { 58 } else { 7 }))]
    };
    for row in state.cpus.chunks(columns).take(rows) {
        lines.push(Line::from(row.iter().flat_map(one).collect::<Vec<_>>()));
    }
    let shown = rows * columns;
    if shown < state.cpus.len() {
        lines.push(Line::from(quiet(format!("{} more CPUs", state.cpus.len() - shown))));
    }
}

/// One bar of all states but idle and sleep, and the numbers.
fn totals(state: &State, width: usize, lines: &mut Vec<Line<'static>>) {
    let total = coloured(&state.total);
    let busy: f64 = total.iter().filter(|(state, ..)| !is_harmless(state)).map(|(_, seconds, _)| seconds).sum();
    lines.push(Line::default());
    lines.push(heading("Where the threads' time goes, 100 % is all the time of one thread"));
    let (mut bar, mut legend) = (Vec::new(), Vec::new());
    // Those in which nothing is lost come last: there are many such threads.
    let (harmless, others): (Vec<_>, Vec<_>) = total.into_iter().partition(|(state, ..)| is_harmless(state));
    for (known, seconds, colour) in others.into_iter().filter(|(_, seconds, _)| *seconds >= LEAST) {
        if busy > 0.0 {
            let cells = (seconds / busy * width as f64).round() as usize;
            bar.push(Span::styled("█".repeat(cells), Style::new().fg(colour)));
        }
        legend.push(Span::styled("■ ", Style::new().fg(colour)));
        legend.push(plain(format!("{} {}  ", known.name, percent(seconds))));
    }
    for (known, threads, colour) in harmless.into_iter().filter(|(_, seconds, _)| *seconds >= LEAST) {
        legend.push(Span::styled("  ", Style::new().fg(colour)));
        legend.push(quiet(format!("{}: {threads:.0} threads  ", known.name)));
    }
    lines.push(Line::from(bar));
    // A legend that is too long goes on in a second line.
    let (mut used, mut line) = (0, Vec::new());
    for pair in legend.chunks(2) {
        let length: usize = pair.iter().map(Span::width).sum();
        if used + length > width && !line.is_empty() {
            lines.push(Line::from(std::mem::take(&mut line)));
            used = 0;
        }
        used += length;
        line.extend_from_slice(pair);
    }
    lines.push(Line::from(line));
}

/// Time that is shown, seconds a second.
const LEAST: f64 = 0.0005;

/// Seconds a second as per cent of the time of one thread.
fn percent(seconds: f64) -> String {
    let percent = seconds * 100.0;
    if percent < 99.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Width of the names of processes, least and most.
const NAME_WIDTH: (usize, usize) = (8, 40);

fn processes(state: &State, view: &View, width: usize, most: usize, lines: &mut Vec<Line<'static>>) {
    // As many states as there is room for, those with the most time; in their order.
    let room = (width.saturating_sub(NAME_WIDTH.0 + 25) / 9).max(1);
    let mut by_time = state.total.clone();
    by_time.sort_by(|a, b| is_harmless(&a.0).cmp(&is_harmless(&b.0)).then(b.1.total_cmp(&a.1)));
    let left_out: Vec<Known> = by_time.into_iter().skip(room).map(|(state, _)| state).collect();
    let shown: Vec<(usize, Known, Color)> = coloured(&state.total)
        .into_iter()
        .enumerate()
        .filter(|(_, (state, ..))| !left_out.contains(state))
        .map(|(at, (state, _, colour))| (at, state, colour))
        .collect();
    let mut groups: Vec<&Group> = state.groups.iter().filter(|g| g.name.contains(&view.filter)).collect();
    let key = |g: &Group| match view.sort {
        Sort::Running => g.running(),
        Sort::Waiting => g.waiting(),
        Sort::Switches => g.switches,
    };
    groups.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| a.name.cmp(&b.name)).then(a.pid.cmp(&b.pid)));
    let total = groups.len();
    lines.push(Line::default());
    let filter = if view.filter.is_empty() { String::new() } else { format!(", names with \"{}\"", view.filter) };
    lines.push(heading(&format!(
        "Processes by {}{filter}; states in % of the time, summed over threads",
        view.sort.name()
    )));
    let name_width = width.saturating_sub(25 + shown.len() * 9).clamp(NAME_WIDTH.0, NAME_WIDTH.1);
    let mut header = format!("{} {:>7} {:>5}", fit("name", name_width), "pid", "thr");
    shown.iter().for_each(|(_, state, _)| header.push_str(&format!(" {:>8}", fit(state.name, 8).trim_end())));
    header.push_str(&format!(" {:>9}", "switches"));
    lines.push(Line::from(quiet(fit(&header, width))));
    for group in groups.iter().take(most) {
        // Those that came and went have no number.
        let pid = group.pid.filter(|pid| *pid > 0).map_or(String::new(), |pid| pid.to_string());
        let mut spans = vec![plain(format!("{} {pid:>7} {:>5}", fit(&group.name, name_width), group.threads))];
        for (at, _, colour) in &shown {
            let (seconds, colour) = (group.states.get(*at).map_or(0.0, |(_, seconds)| *seconds), *colour);
            let text = if seconds < LEAST { format!(" {:>8}", "·") } else { format!(" {:>8}", percent(seconds)) };
            let style = if seconds < LEAST { Style::new().fg(Color::DarkGray) } else { Style::new().fg(colour) };
            spans.push(Span::styled(text, style));
        }
        spans.push(plain(format!(" {:>9}", human(group.switches, "1/s"))));
        lines.push(Line::from(spans));
    }
    if total > most {
        lines.push(Line::from(quiet(format!("{} more", total - most))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_filled_to_their_width() {
        assert_eq!((fit("abc", 5).as_str(), fit("abcdef", 4).as_str(), fit("x", 0).as_str()), ("abc  ", "abc…", ""));
        assert_eq!(bars(&VecDeque::from([0.0, 0.5, 1.0]), 5), "  ▁▅█");
        assert_eq!(bars(&VecDeque::from([0.0, 0.5, 1.0]), 2), "▅█");
    }

    /// Idle threads are many: they take no place from what is used or lost, and are counted.
    #[test]
    fn times_have_units_and_idle_comes_last() {
        let known = |name, kind| Known { name, kind };
        let states = |values: [f64; 4]| {
            let names = [
                known("user", StateKind::OnCpu),
                known("lock", StateKind::Wait),
                known("sleep", StateKind::Sleep),
                known("idle", StateKind::Rest),
            ];
            names.into_iter().zip(values).collect::<Vec<_>>()
        };
        let group = |name: &str, pid, values| Group {
            name: name.into(),
            pid,
            threads: 1,
            states: states(values),
            switches: 1.0,
        };
        let mut state = State::default();
        state.total = states([1.25, 0.004, 2.0, 129.85]);
        state.groups =
            vec![group("postgres", Some(7), [1.25, 0.004, 0.0, 9.0]), group("wc", Some(0), [0.1, 0.0, 0.0, 0.0])];
        state.has_ledger = true;
        let view = View { sort: Sort::Running, filter: String::new(), by_name: false, paused: false };
        let lines: Vec<String> = screen(&state, &view, "host", &[], (52, 30))
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect();
        let legend = lines.iter().find(|line| line.contains("■ user")).unwrap();
        assert_eq!(legend.trim_end(), "■ user 125 %  ■ lock 0.4 %    sleep: 2 threads", "{lines:?}");
        assert!(lines.contains(&"  idle: 130 threads".to_owned()), "{lines:?}");
        let columns = lines.iter().find(|line| line.starts_with("name")).unwrap();
        assert!(columns.contains("user") && columns.contains("lock") && !columns.contains("idle"), "{columns}");
        let ended = lines.iter().find(|line| line.starts_with("wc")).unwrap();
        assert!(!ended.contains(" 0 ") && ended.contains("10.0 %"), "{ended}");
    }

    #[test]
    fn many_cpus_share_lines() {
        let mut state = State::default();
        state.cpus.extend((0..192).map(|n| (n, Cpu::default())));
        let view = View { sort: Sort::Running, filter: String::new(), by_name: false, paused: false };
        for (width, height) in [(80, 24), (200, 60), (1, 1)] {
            let lines = screen(&state, &view, "host", &[], (width, height));
            assert!(lines.len() <= height.max(12));
            assert!(lines.iter().all(|l| l.width() <= width.max(40)), "{lines:?}");
        }
    }
}
