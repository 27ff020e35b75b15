import { describe, expect, it } from 'vitest';
import { awaitedBy, awaitedIn, preventedBy } from '../api/awaited.ts';
import { openstackConfigReasons } from '../api/reasons/openstackconfig.ts';
import type { ReasonRow } from '../api/reasons/reason-row.ts';
import { reasons } from '../api/reasons.ts';
import { now } from '../explain/testing/healthy.ts';
import { commands } from './main-cli.ts';
import { syncText } from './sync/screen.ts';

type Edges = ReadonlyMap<string, readonly string[]>;

/** Returns the graph: a reason's command, the event awaited by the command, the reasons that prevent the event. */
function graphOf(rows: Readonly<Record<string, ReasonRow>>, prevented: typeof preventedBy): Edges {
  const ofReasons = Object.entries(rows).map(([reason, { nextStep = [] }]) => {
    const all = nextStep.flatMap(({ commands: own = [], preview = [] }) => [...own, ...preview]);
    const events = all.flatMap((words) => awaitedIn(words.filter(isText)) ?? []);
    return [reason, events.map((event) => `event ${event}`)] as const;
  });
  const ofEvents = Object.entries(prevented).map(
    ([event, list]) => [`event ${event}`, list] as const,
  );
  return new Map<string, readonly string[]>([...ofReasons, ...ofEvents]);
}

function isText(word: unknown): word is string {
  return typeof word === 'string';
}

/** Returns the first circle from a node; undefined: none. */
function circleFrom(node: string, edges: Edges, path: readonly string[] = []): string | undefined {
  if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' → ');
  for (const next of edges.get(node) ?? []) {
    const found = circleFrom(next, edges, [...path, node]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function circlesIn(edges: Edges): string[] {
  return [...edges.keys()].flatMap((node) => circleFrom(node, edges) ?? []);
}

/** Commands in a text, such as "kubectl multinic sync". */
function pluginCommands(text: string): string[] {
  return [...text.matchAll(/kubectl multinic ([a-z-]+)/g)].map(([, name = '']) => name);
}

describe('next steps', () => {
  it('next steps have no circle from a reason over a command to the same reason', () => {
    expect(circlesIn(graphOf(reasons, preventedBy))).toEqual([]);
  });

  it('a circle is found when a failing login prevents the attempt', () => {
    const earlier = { ...preventedBy, attempt: ['Paused', 'KeystoneError'] as const };
    expect(circlesIn(graphOf(reasons, earlier))).toContain(
      'KeystoneError → event attempt → KeystoneError',
    );
  });

  it.each(Object.entries<ReasonRow>(reasons))(
    'next steps for %s have existing commands only',
    (_, row) => {
      const { action, nextStep = [] } = row;
      const texts = [action, ...nextStep.flatMap(({ text }) => text ?? [])];
      const rows = nextStep.flatMap(({ commands: own = [], preview = [] }) => [...own, ...preview]);
      const lines = rows.map((words) => words.filter(isText).join(' '));
      const named = [...texts.flatMap(({ en, ko }) => [en, ko]), ...lines].flatMap(pluginCommands);
      for (const name of named) expect(Object.keys(commands)).toContain(name);
      // `status` and `doctor` print the next step themselves.
      expect(lines.flatMap(pluginCommands)).not.toContain('status');
      expect(lines.flatMap(pluginCommands)).not.toContain('doctor');
    },
  );

  it('each awaited command exists', () => {
    const names = Object.keys(awaitedBy).map((words) => words.split(' ')[0]);
    expect(Object.keys(commands)).toEqual(expect.arrayContaining(names));
  });

  it.each(Object.keys(openstackConfigReasons))(
    'a sync that ends with %s sends to no command with the same answer',
    (reason) => {
      const ready = { status: 'False', reason, message: 'x' };
      const result = { config: 'a/b', provider: 'biz-1', ready, nextAt: undefined, now };
      expect(syncText(result, 'en')).not.toMatch(/kubectl multinic (sync|status|doctor|why)/);
    },
  );
});
