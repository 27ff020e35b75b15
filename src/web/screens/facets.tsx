import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { Name } from '../parts/texts.tsx';
import { hrefTo } from '../place/location.ts';
import { changed, type Fields } from '../place/place.ts';
import { number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { signTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type FacetCounts = ScreenAnswer<'nodes'>['facets'];
type FacetName = keyof FacetCounts;

const names: readonly FacetName[] = ['state', 'reason', 'cluster', 'network', 'backend', 'config'];

/** Filters with node counts per value; a chosen value's link removes the filter. */
export function Facets({
  facets,
  fields,
}: {
  readonly facets: FacetCounts;
  readonly fields: Fields;
}) {
  const isFiltered = [...names, 'text'].some((name) => fields[name] !== undefined);
  return (
    <nav class="facets" aria-label={say(screenTexts.filters)}>
      {isFiltered && <a href={hrefTo('nodes')}>{say(screenTexts.clearFilters)}</a>}
      {names.map((name) => (
        <Facet key={name} name={name} values={facets[name]} fields={fields} />
      ))}
    </nav>
  );
}

/** Values in sight before the user opens the rest. */
const fewValues = 8;

function Facet({
  name,
  values,
  fields,
}: {
  readonly name: FacetName;
  readonly values: FacetCounts[FacetName];
  readonly fields: Fields;
}) {
  const chosen = fields[name];
  if (values.length === 0 && chosen === undefined) return null;
  // A filter without nodes stays in the list: the user needs a link for the removal.
  const isMissing = chosen !== undefined && values.every(({ value }) => value !== chosen);
  const all = isMissing ? [{ value: chosen, count: 0 }, ...values] : values;
  return (
    <details open={chosen !== undefined || values.length <= fewValues}>
      <summary>{say(screenTexts[name])}</summary>
      <ul>
        {all.map(({ value, count }) => (
          <li key={value}>
            <a
              href={hrefTo(
                'nodes',
                changed(fields, { [name]: value === chosen ? undefined : value }),
              )}
              aria-current={value === chosen ? 'true' : undefined}
            >
              <span>
                <Name value={name === 'state' ? stateWord(value) : value} />
              </span>
              <span class="number">{number(count)}</span>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

function stateWord(state: string): string {
  const texts: Readonly<Record<string, { en: string; ko: string }>> = signTexts;
  return say(texts[state] ?? { en: state, ko: state });
}
