require "erb"
require "json"

rows = (1..4000).map { |number| { "id" => number, "name" => "customer #{number * 7919 % 4001}", "sum" => number * 1.25 } }
template = ERB.new("<% rows.each do |row| %><li><%= ERB::Util.h(row['name']) %>: <%= format('%.2f', row['sum']) %></li>\n<% end %>")
size = 0
ARGV[0].to_i.times do
  rows = JSON.parse(JSON.generate(rows)).sort_by { |row| [row["name"], row["id"]] }
  size += template.result(binding).size
end
puts size
