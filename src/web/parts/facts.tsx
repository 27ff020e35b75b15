import type { ComponentChildren } from 'preact';
import type { Wording } from '../../api/texts/text.ts';
import { say } from '../words/language.ts';
import { Name } from './texts.tsx';

/** A name and a value; a string is a text from outside. */
export type Fact = readonly [title: Wording, value: ComponentChildren];

/** Pairs of a name and a value; pairs without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  const given = facts.filter(
    ([, value]) => value !== undefined && value !== '' && value !== null && value !== false,
  );
  return (
    <dl>
      {given.map(([title, value]) => (
        <div key={title.en}>
          <dt>{say(title)}</dt>
          <dd>{typeof value === 'string' ? <Name value={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A titled part of a screen. */
export function Section({
  title,
  children,
}: {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
