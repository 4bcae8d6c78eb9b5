//! Formulas over counts: `+ - * / ( )`, comparisons, `min`, `max`, `if(condition, then, else)`. What is not there makes what is computed from it not
//! there either, and so does a division by zero: a ratio of nothing is no number.

use std::fmt;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A column, or a constant of the machine.
    Name(String),
    /// Two operands.
    Binary(Operator, Box<Formula>, Box<Formula>),
    /// The least.
    Min(Vec<Formula>),
    /// The greatest.
    Max(Vec<Formula>),
    /// One of two, of which the other need not be there.
    If(Box<[Formula; 3]>),
}

/// What is done with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `<`: 1 or 0
    Less,
    /// `>`: 1 or 0
    Greater,
    /// `==`: 1 or 0
    Equal,
}

impl Operator {
    fn priority(self) -> u8 {
        match self {
            Operator::Less | Operator::Greater | Operator::Equal => 1,
            Operator::Add | Operator::Subtract => 2,
            Operator::Multiply | Operator::Divide => 3,
        }
    }
}

/// Formulas are no deeper than this: they are evaluated by recursion.
const DEEPEST: usize = 200;

/// A sum of columns with their weights.
pub type Sum = Vec<(String, f64)>;

impl Formula {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Formula, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let formula = parser.expression(0)?;
        match parser.rest.trim_start() {
            "" => Ok(formula),
            rest => Err(format!("not understood: {rest:?}")),
        }
    }

    /// Its value; `None` where a name in it has none, or something is divided by zero.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        let found = match self {
            Formula::Number(number) => *number,
            Formula::Name(name) => of(name)?,
            Formula::Binary(operator, a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide if b == 0.0 => return None,
                    Operator::Divide => a / b,
                    Operator::Less => f64::from(u8::from(a < b)),
                    Operator::Greater => f64::from(u8::from(a > b)),
                    Operator::Equal => f64::from(u8::from(a == b)),
                }
            }
            Formula::Min(all) => all.iter().try_fold(f64::INFINITY, |least, one| Some(least.min(one.value(of)?)))?,
            Formula::Max(all) => all.iter().try_fold(f64::NEG_INFINITY, |most, one| Some(most.max(one.value(of)?)))?,
            Formula::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                if condition.value(of)? == 0.0 { otherwise.value(of)? } else { then.value(of)? }
            }
        };
        found.is_finite().then_some(found)
    }

    /// The names in it, each once, in the order in which they come.
    pub fn names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Formula::Number(_) => {}
            Formula::Name(name) if found.contains(&name.as_str()) => {}
            Formula::Name(name) => found.push(name),
            Formula::Binary(_, a, b) => [a, b].iter().for_each(|part| part.collect(found)),
            Formula::Min(parts) | Formula::Max(parts) => parts.iter().for_each(|part| part.collect(found)),
            Formula::If(parts) => parts.iter().for_each(|part| part.collect(found)),
        }
    }

    /// As a sum of columns divided by another, where it is one.
    pub fn ratio(&self) -> Option<(Sum, Sum)> {
        match self {
            Formula::Binary(Operator::Divide, a, b) if b.constant().is_none() => Some((a.sum()?, b.sum()?)),
            Formula::Binary(Operator::Multiply, a, b) => {
                let (factor, ratio) = match (a.constant(), b.constant()) {
                    (Some(factor), None) => (factor, b.ratio()?),
                    (None, Some(factor)) => (factor, a.ratio()?),
                    _ => return None,
                };
                let num = ratio.0.into_iter().map(|(name, weight)| (name, weight * factor)).collect();
                Some((num, ratio.1))
            }
            _ => None,
        }
    }

    /// As a weighted sum of columns, where it is one.
    pub fn sum(&self) -> Option<Sum> {
        let scaled = |sum: Sum, factor: f64| sum.into_iter().map(|(name, weight)| (name, weight * factor)).collect();
        match self {
            Formula::Name(name) => Some(vec![(name.clone(), 1.0)]),
            Formula::Binary(operator @ (Operator::Add | Operator::Subtract), a, b) => {
                let sign = if *operator == Operator::Add { 1.0 } else { -1.0 };
                let mut sum = a.sum()?;
                for (name, weight) in b.sum()? {
                    match sum.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, there)) => *there += sign * weight,
                        None => sum.push((name, sign * weight)),
                    }
                }
                Some(sum)
            }
            Formula::Binary(Operator::Multiply, a, b) => match (a.constant(), b.constant()) {
                (Some(factor), None) => Some(scaled(b.sum()?, factor)),
                (None, Some(factor)) => Some(scaled(a.sum()?, factor)),
                _ => None,
            },
            Formula::Binary(Operator::Divide, a, b) => {
                Some(scaled(a.sum()?, 1.0 / b.constant().filter(|&b| b != 0.0)?))
            }
            _ => None,
        }
    }

    /// Its value where no name is in it.
    fn constant(&self) -> Option<f64> {
        if self.names().is_empty() { self.value(&|_| None) } else { None }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, parts: &[Formula]| {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            write!(f, "{name}({})", parts.join(", "))
        };
        match self {
            Formula::Number(number) => write!(f, "{number}"),
            Formula::Name(name) => f.write_str(name),
            Formula::Binary(operator, a, b) => {
                let word = match operator {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Multiply => "*",
                    Operator::Divide => "/",
                    Operator::Less => "<",
                    Operator::Greater => ">",
                    Operator::Equal => "==",
                };
                write!(f, "({a} {word} {b})")
            }
            Formula::Min(parts) => list(f, "min", parts),
            Formula::Max(parts) => list(f, "max", parts),
            Formula::If(parts) => list(f, "if", &parts[..]),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    /// An expression whose operators bind tighter than `least`.
    fn expression(&mut self, least: u8) -> Result<Formula, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too deep".into());
        }
        let mut left = self.operand()?;
        while let Some((operator, length)) = self.operator().filter(|(operator, _)| operator.priority() > least) {
            self.rest = self.rest.get(length..).unwrap_or_default();
            let right = self.expression(operator.priority())?;
            left = Formula::Binary(operator, Box::new(left), Box::new(right));
            // A chain of them is as deep as it is long.
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err("too long".into());
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operator(&mut self) -> Option<(Operator, usize)> {
        self.rest = self.rest.trim_start();
        let words = [
            ("+", Operator::Add),
            ("-", Operator::Subtract),
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("<", Operator::Less),
            (">", Operator::Greater),
            ("==", Operator::Equal),
        ];
        words.into_iter().find(|(word, _)| self.rest.starts_with(word)).map(|(word, operator)| (operator, word.len()))
    }

    fn eat(&mut self, word: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn operand(&mut self) -> Result<Formula, String> {
        if self.eat('(') {
            let inner = self.expression(0)?;
            return if self.eat(')') { Ok(inner) } else { Err("a parenthesis is not closed".into()) };
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let word = self.take(|c| c.is_ascii_digit() || c == '.');
            return word.parse().map(Formula::Number).map_err(|_| format!("{word:?} is no number"));
        }
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        if name.is_empty() {
            return Err(match self.rest.chars().next() {
                Some(c) => format!("not understood: {c:?}"),
                None => "it ends too early".into(),
            });
        }
        if !self.eat('(') {
            return Ok(Formula::Name(name));
        }
        let mut parts = vec![self.expression(0)?];
        while self.eat(',') {
            parts.push(self.expression(0)?);
        }
        if !self.eat(')') {
            return Err(format!("{name}: a parenthesis is not closed"));
        }
        match name.as_str() {
            "min" => Ok(Formula::Min(parts)),
            "max" => Ok(Formula::Max(parts)),
            "if" => {
                let parts: [Formula; 3] = parts.try_into().map_err(|_| "if takes three parts".to_owned())?;
                Ok(Formula::If(Box::new(parts)))
            }
            _ => Err(format!("there is no function {name}")),
        }
    }
}
