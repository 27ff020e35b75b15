import { type ComponentChildren, Fragment } from 'preact';
import type { Wording } from '../../api/texts/text.ts';
import { now } from '../data/server-clock.ts';
import { dateTime, fullDateTime, relativeTime } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { signOf } from '../words/signs.ts';
import { visible } from '../words/visible.ts';

/** Printable ASCII: never changes the direction of the text around. */
const isPlain = /^[ -~]*$/;

/** Longest text without breaks inside words (characters). */
const longestWord = 40;

/** A text from outside: isolated in its direction, with visible control characters. */
export function Name({ value }: { readonly value: string | undefined }) {
  if (value === undefined || value === '') return <>–</>;
  const isLong = value.length > longestWord;
  if (!isLong && isPlain.test(value)) return <>{value}</>;
  return <bdi class={isLong ? 'long-name' : undefined}>{visible(value)}</bdi>;
}

/** A name as a link; `href` undefined: the object has no screen. */
export function NameLink({
  value,
  href,
}: {
  readonly value: string;
  readonly href: string | undefined;
}) {
  if (href === undefined) return <Name value={value} />;
  return (
    <a href={href}>
      <Name value={value} />
    </a>
  );
}

/** Names separated by commas. */
export function Names({ values }: { readonly values: readonly string[] }) {
  if (values.length === 0) return <>–</>;
  return (
    <>
      {values.map((value, at) => (
        <Fragment key={value}>
          {at > 0 && ', '}
          <Name value={value} />
        </Fragment>
      ))}
    </>
  );
}

/** A text in the language on the page, with values from outside. */
export function Words({ text }: { readonly text: Wording }) {
  const shown = say(text);
  return shown === '' ? null : <Name value={shown} />;
}

/** A state's symbol and word. `children`: a further word, such as the reason. */
export function Sign({
  of: name,
  children,
}: {
  readonly of: string;
  readonly children?: ComponentChildren;
}) {
  const { symbol, tone, word } = signOf(name);
  return (
    <span class={`sign ${tone}`}>
      <span aria-hidden="true">{symbol}</span>
      {'\u00A0'}
      <Name value={say(word)} />
      {children}
    </span>
  );
}

/** Age, with the full time as a title. `at` undefined: the text in `absent`. */
export function Age({
  at,
  absent = pageTexts.unknown,
}: {
  readonly at: string | undefined;
  readonly absent?: Wording;
}) {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return <>{say(absent)}</>;
  return (
    <time dateTime={at} title={fullDateTime(ms)}>
      {relativeTime(ms, now.value)}
    </time>
  );
}

/** Date and time. */
export function At({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return <Name value={at} />;
  return (
    <time dateTime={at} title={fullDateTime(ms)}>
      {dateTime(ms)}
    </time>
  );
}
