import { hrefTo, place } from '../place/location.ts';
import type { View } from '../place/place.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';

const entries = [
  'fleet',
  'nodes',
  'configs',
  'doctor',
  'history',
  'rollouts',
  'operator',
] as const satisfies readonly View[];

type Entry = (typeof entries)[number];

/** Navigation entries for screens about a single object. */
const entryOf: Readonly<Partial<Record<View, Entry>>> = {
  node: 'nodes',
  nic: 'nodes',
  port: 'nodes',
  config: 'configs',
};

export function Navigation() {
  const { view } = place.value;
  const current = entryOf[view] ?? view;
  return (
    <nav class="screens" aria-label={say(pageTexts.screens)}>
      <ul>
        {entries.map((entry) => (
          <li key={entry}>
            <a href={hrefTo(entry)} aria-current={entry === current ? 'page' : undefined}>
              {say(pageTexts[entry])}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
