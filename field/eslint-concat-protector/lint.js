const { Linter } = require('eslint');
const react = require('eslint-plugin-react');

const linter = new Linter();
const rules = {};
for (const [name, rule] of Object.entries(react.rules)) linter.defineRule(`react/${name}`, rule);
for (const name of Object.keys(react.configs.recommended.rules)) rules[name] = 'error';

const parts = (number) => `
export class Table${number} extends React.Component {
  static propTypes = { rows: PropTypes.array, title: PropTypes.string, onSelect: PropTypes.func };
  componentDidMount() {
    const { rows, onSelect } = this.props;
    if (rows.length) onSelect(rows[0]);
  }
  render() {
    const { rows, title } = this.props;
    return <ul className="t">{rows.map((row) =>
      <li key={row.id} onClick={() => this.props.onSelect(row)}>{row.name || title}{row.marks.map((x) => <b key={x}>{x}</b>)}</li>)}</ul>;
  }
}
export const Item${number} = ({ label, value, children }) => {
  const text = value ? label + value : label;
  return <p title={text}>{children}{text && <i>{text}</i>}</p>;
};
Item${number}.propTypes = { label: PropTypes.string, value: PropTypes.number, children: PropTypes.node };
`;

const config = {
  env: { browser: true, es2022: true },
  parserOptions: { ecmaVersion: 2022, sourceType: 'module', ecmaFeatures: { jsx: true } },
  settings: { react: { version: '18.2' } },
  rules,
};
const head = "import React from 'react';\nimport PropTypes from 'prop-types';\n";
const file = head + Array.from({ length: 100 }, (_, i) => parts(i)).join('');
let messages = 0;
for (let i = 0; i < Number(process.env.COUNT); i++) messages += linter.verify(file, config, `tables${i}.jsx`).length;
console.log(`${messages} messages`);
