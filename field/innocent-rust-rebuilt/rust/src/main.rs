//! Writes a table, reads it again and sums it up by column.
use std::collections::HashMap;

fn main() {
    let passes: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut number: u64 = 1;
    let mut writer = csv::Writer::from_writer(Vec::new());
    for id in 0..200_000u32 {
        number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let town = format!("town {}", number >> 54);
        let amount = (number >> 40 & 0xffff).to_string();
        writer.write_record([id.to_string().as_str(), town.as_str(), amount.as_str(), "a note, with a comma"]).unwrap();
    }
    let text = writer.into_inner().unwrap();
    let mut sum = 0;
    for _ in 0..passes {
        let mut totals: HashMap<String, u64> = HashMap::new();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_slice());
        for record in reader.records() {
            let record = record.unwrap();
            *totals.entry(record[1].to_string()).or_default() += record[2].parse::<u64>().unwrap();
        }
        sum += totals.values().max().unwrap();
    }
    println!("{} {sum}", option_env!("BUILT_FOR").unwrap_or("nobody"));
}
