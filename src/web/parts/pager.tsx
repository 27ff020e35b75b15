import { hrefTo } from '../place/location.ts';
import type { Fields, View } from '../place/place.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';

/** Links to the first and the next page; the back button leads to the page before. */
export function Pager({
  view,
  fields,
  isFirst,
  next,
}: {
  readonly view: View;
  /** Filters, without a page. */
  readonly fields: Fields;
  readonly isFirst: boolean;
  /** Token of the next page; undefined: last page. */
  readonly next: string | undefined;
}) {
  if (isFirst && next === undefined) return null;
  return (
    <nav class="pager" aria-label={say(pageTexts.pages)}>
      {!isFirst && <a href={hrefTo(view, fields)}>{say(pageTexts.firstPage)}</a>}
      {next !== undefined && (
        <a href={hrefTo(view, { ...fields, continue: next })}>{say(pageTexts.nextPage)}</a>
      )}
    </nav>
  );
}
