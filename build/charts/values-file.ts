import { stringify } from 'yaml';
import type { ValuesSchema } from './schema.ts';

const width = 100;

/** Renders the defaults as values.yaml, each below a description; a value without default is a comment. */
export function valuesFile(schema: ValuesSchema, head: string): string {
  return `${head}\n${Object.entries(schema.properties ?? {})
    .map(([key, property]) => `\n${entry(key, property, '')}`)
    .join('')}`;
}

function entry(key: string, property: ValuesSchema, indent: string): string {
  const about = comment(property.description ?? '', indent);
  if (property.default !== undefined) {
    return `${about}${indent}${yaml({ [key]: property.default }, indent)}`;
  }
  if (property.properties === undefined) return `${about}${indent}# ${key}:\n`;
  const below = Object.entries(property.properties)
    .filter(([, inner]) => !inner.deprecated)
    .map(([name, inner]) => entry(name, inner, `${indent}  `))
    .join('');
  return `${about}${indent}${key}:\n${below}`;
}

function yaml(value: unknown, indent: string): string {
  return `${stringify(value).trimEnd().replaceAll('\n', `\n${indent}`)}\n`;
}

/** Wraps a comment at the maximum line length. */
function comment(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1) ?? `${indent}#`} ${word}`;
    if (lines.length === 0 || line.length > width) lines.push(`${indent}# ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.map((line) => `${line}\n`).join('');
}
