import { stringify } from 'yaml';
import { type HeapOwner, heapLimits } from '../../src/process/heap.ts';
import type { Settings } from '../../src/process/settings.ts';
import { entryPoint } from '../entry-point.ts';
import { durationBounds } from './duration-bounds.ts';
import { deprecationOf, valueKey } from './values/settings.ts';

/** Named templates for each part: environment variables from settings, and the command. */
export function partsTemplate(parts: Readonly<Partial<Record<HeapOwner, Settings>>>): string {
  const heapOfAgents = [
    '{{- /* Heap limits for agents in MB. */ -}}',
    define('multinic.heap.agent', stringify(heapLimits('agent'))),
  ].join('\n');
  const each = Object.entries(parts)
    .map(([part, settings]) => {
      const names = Object.entries(settings)
        .filter(([, { deprecated }]) => !deprecated?.isIgnored)
        .map(([key, { env }]) => [valueKey(key), env[0]]);
      return [
        '{{- /* Setting value to environment variable. */ -}}',
        define(`multinic.settings.${part}`, stringify(Object.fromEntries(names))),
        '{{- /* Deprecated value to NOTES text. */ -}}',
        define(`multinic.deprecated.${part}`, stringify(deprecatedOf(settings), { lineWidth: 0 })),
        '{{- /* Command with heap limits. */ -}}',
        define(`multinic.command.${part}`, commandOf(part as HeapOwner)),
        '{{- /* Shortest and longest accepted duration, by setting. */ -}}',
        define(`multinic.durations.${part}`, stringify(durationsOf(settings))),
      ].join('\n');
    })
    .join('\n');
  return 'controller' in parts ? `${each}\n${heapOfAgents}` : each;
}

function deprecatedOf(settings: Settings): object {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, { deprecated }]) =>
      deprecated ? [[valueKey(key), deprecationOf(deprecated)] as const] : [],
    ),
  );
}

function durationsOf(settings: Settings): object {
  const bounds = Object.entries(settings).flatMap(([key, setting]) => {
    const found = durationBounds(setting);
    return found ? [[valueKey(key), found] as const] : [];
  });
  return Object.fromEntries(bounds);
}

function define(name: string, text: string): string {
  return `{{- define "${name}" -}}\n${text}{{- end }}\n`;
}

/** The first argument is the part's name. */
function commandOf(part: HeapOwner): string {
  const { young, old } = heapLimits(part);
  const limits: Readonly<Record<string, string>> = {
    [`--max-semi-space-size=${young}`]: '--max-semi-space-size={{ .young }}',
    [`--max-old-space-size=${old}`]: '--max-old-space-size={{ .old }}',
  };
  const { command } = entryPoint(part);
  const words = command.slice(0, -1);
  const missing = Object.keys(limits).filter((flag) => !words.includes(flag));
  if (missing.length > 0) throw new Error(`${part} is not started with ${missing.join(' and ')}`);
  return words.map((word) => `- ${limits[word] ?? word}\n`).join('');
}
