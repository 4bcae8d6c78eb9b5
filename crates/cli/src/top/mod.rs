//! `twinscope top`: where the time goes, live: per-CPU bars, the thread ledger, the busiest functions, the hottest locks, the busiest servers.

mod draw;
mod state;

use crate::latency::Served;
use anyhow::{Context, Result};
use clap::Args;
use draw::{Sort, View};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::text::Text;
use ratatui::widgets::Paragraph;
use recorder::live::Live;
use serde_json::json;
use state::{Known, State};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Show where the time goes, live: of all threads, unless --pid or --cgroup name some.
#[derive(Args, Debug)]
pub struct Top {
    #[command(flatten)]
    whose: recorder::Whose,

    /// Interval between reads of the thread ledger; CPU bars are redrawn five times as often
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = recorder::duration)]
    interval: Duration,

    /// Merge processes of the same name
    #[arg(long)]
    by_name: bool,

    /// Print one screen after one interval and exit
    #[arg(long)]
    once: bool,

    /// Print one screen as JSON and exit
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

/// What is read. CPU times are cheap, so they are read more often than the rest.
const SOURCES: [&str; 4] = ["cpu", "threads", "stacks", "turns"];

/// Runs it.
///
/// # Errors
/// Where the target does not exist, or the terminal cannot be used.
pub fn top(options: &Top) -> Result<u8> {
    let mut live = Live::open(&SOURCES, &options.whose)?;
    let mut state = State::default();
    let interval = options.interval.clamp(Duration::from_millis(50), Duration::from_secs(3600));
    read(&mut live, &mut state, options.by_name, true);
    if options.once || options.json || !std::io::stdout().is_terminal() {
        for part in 0..5 {
            std::thread::sleep(interval / 5);
            read(&mut live, &mut state, options.by_name, part == 4);
        }
        let view = View { sort: Sort::Running, filter: String::new(), by_name: options.by_name, paused: false };
        if options.json {
            println!("{}", serde_json::to_string_pretty(&as_json(&state, &live))?);
        } else {
            for line in draw::screen(&state, &view, &title(&live, interval), &missing(&live), (160, 60)) {
                println!("{}", line.to_string().trim_end());
            }
        }
        return Ok(0);
    }
    ratatui::crossterm::style::force_color_output(crate::text::has_colour());
    let mut terminal = ratatui::try_init().context("the terminal cannot be used; --once needs none")?;
    let ended = run(&mut terminal, &mut live, &mut state, options, interval);
    ratatui::restore();
    ended
}

fn read(live: &mut Live, state: &mut State, by_name: bool, whole: bool) {
    let reads = live.read(|name| whole || name == "cpu");
    state.take(&reads, live.symbols(), by_name);
}

fn title(live: &Live, interval: Duration) -> String {
    format!("twinscope top · {} · every {:.1} s · ? for help", live.target(), interval.as_secs_f64())
}

fn missing(live: &Live) -> Vec<String> {
    live.missing().iter().map(|(source, why)| crate::text::clean(&format!("{source}: {why}"))).collect()
}

const HELP: &str = "
  q, Esc     end                       s          sort by running, waiting, switches
  p, space   pause                     n          processes, or their names
  /          show only names with …    Enter      end of the name     ?   this help

  Times are per cent of the time, summed over threads: 200 % in `lock` means that two threads waited
  for contended locks all the time. runnable: wanted a CPU and waited for one. idle: waited for work;
  of idle and sleeping threads the number is shown. A process without a number has ended meanwhile.
  docs/reference/sources.md describes the columns of thread_time.
";

fn run(
    terminal: &mut ratatui::DefaultTerminal,
    live: &mut Live,
    state: &mut State,
    options: &Top,
    interval: Duration,
) -> Result<u8> {
    let mut view = View { sort: Sort::Running, filter: String::new(), by_name: options.by_name, paused: false };
    let (mut typing, mut help, mut part) = (false, false, 0_u32);
    let mut next = Instant::now() + interval / 5;
    loop {
        let mut heading = title(live, interval);
        if typing {
            heading = format!("names with: {}_", view.filter);
        }
        let (missing, shown) = (missing(live), &*state);
        terminal.draw(|frame| {
            let area = frame.area();
            let text = match help {
                true => Text::raw(HELP),
                false => {
                    let size = (usize::from(area.width), usize::from(area.height));
                    Text::from(draw::screen(shown, &view, &heading, &missing, size))
                }
            };
            frame.render_widget(Paragraph::new(text), area);
        })?;
        if event::poll(next.saturating_duration_since(Instant::now()))? {
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
                && !pressed(key, &mut view, &mut typing, &mut help)
            {
                return Ok(0);
            }
            continue;
        }
        next += interval / 5;
        if next < Instant::now() {
            // After a stop of the program (Ctrl-Z), do not read all that was missed.
            next = Instant::now() + interval / 5;
        }
        part = (part + 1) % 5;
        if !view.paused {
            read(live, state, view.by_name, part == 0);
        }
    }
}

/// Acts on a key. False ends the program.
fn pressed(key: KeyEvent, view: &mut View, typing: &mut bool, help: &mut bool) -> bool {
    if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
        return false;
    }
    if *typing {
        match key.code {
            KeyCode::Enter => *typing = false,
            KeyCode::Esc => {
                *typing = false;
                view.filter.clear();
            }
            KeyCode::Backspace => {
                view.filter.pop();
            }
            KeyCode::Char(c) => view.filter.push(c),
            _ => {}
        }
        return true;
    }
    if std::mem::take(help) {
        return true;
    }
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('p' | ' ') => view.paused = !view.paused,
        KeyCode::Char('s') => view.sort = view.sort.next(),
        KeyCode::Char('n') => view.by_name = !view.by_name,
        KeyCode::Char('/') => *typing = true,
        KeyCode::Char('?' | 'h') => *help = true,
        _ => {}
    }
    true
}

fn as_json(state: &State, live: &Live) -> serde_json::Value {
    let states = |values: &[(Known, f64)]| {
        values.iter().map(|(state, v)| (state.name.to_owned(), json!(v))).collect::<serde_json::Map<_, _>>()
    };
    let mut groups: Vec<_> = state.groups.iter().collect();
    groups.sort_by(|a, b| b.running().total_cmp(&a.running()).then_with(|| a.name.cmp(&b.name)));
    json!({
        "target": live.target(),
        "cpus": state.cpus.iter().map(|(number, cpu)| {
            let [user, kernel, interrupts, steal] = cpu.shares;
            json!({"cpu": number, "user": user, "kernel": kernel, "interrupts": interrupts, "steal": steal})
        }).collect::<Vec<_>>(),
        "ledger": state.has_ledger.then(|| states(&state.total)),
        "processes": groups.iter().map(|g| json!({
            "name": g.name, "pid": g.pid, "threads": g.threads, "states": states(&g.states), "switches": g.switches,
        })).collect::<Vec<_>>(),
        "functions": state.hot(20).iter().map(|h| json!({
            "share": h.share, "function": h.function, "module": h.module, "callers": h.callers,
        })).collect::<Vec<_>>(),
        "locks": state.locks(20).iter().map(|l| json!({
            "lock": l.name, "kind": l.kind, "process": l.comm, "time": l.time, "count": l.count, "longest": l.longest,
            "waiters": l.waiters, "function": l.function,
        })).collect::<Vec<_>>(),
        "requests": state.served(20).iter().map(Served::as_json).collect::<Vec<_>>(),
        "missing": live.missing().iter().map(|(source, why)| json!({
            "source": source, "why": why.why, "remedy": why.remedy,
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let mut view = View { sort: Sort::Running, filter: String::new(), by_name: false, paused: false };
        let (mut typing, mut help) = (false, false);
        let mut press = |code| pressed(KeyEvent::new(code, KeyModifiers::NONE), &mut view, &mut typing, &mut help);
        for code in [KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Char('x'), KeyCode::Backspace, KeyCode::Enter] {
            assert!(press(code), "{code:?}");
        }
        assert!(press(KeyCode::Char('s')) && press(KeyCode::Char('n')) && press(KeyCode::Char(' ')));
        assert!(press(KeyCode::Char('?')) && press(KeyCode::Char('q')), "any key closes the help");
        assert!(!press(KeyCode::Char('q')));
        assert_eq!((view.filter.as_str(), view.sort, view.by_name, view.paused), ("q", Sort::Waiting, true, true));
    }
}
