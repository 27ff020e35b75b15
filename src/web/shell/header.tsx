import { filled } from '../../api/texts/text.ts';
import { feed, silentMs } from '../data/live-feed.ts';
import { now } from '../data/server-clock.ts';
import { hrefIn, hrefTo, open, place, sentText } from '../place/location.ts';
import { relativeTime } from '../words/format.ts';
import { language, languages, say } from '../words/language.ts';
import { languageNames, pageTexts } from '../words/page-texts.ts';

/** Product, search, language, and whether the page is live. */
export function Header() {
  return (
    <header>
      <a class="skip" href="#content">
        {say(pageTexts.skipToContent)}
      </a>
      <a class="product" href={hrefTo('fleet')}>
        MultiNIC
      </a>
      <SearchField />
      <nav class="languages" aria-label={say(pageTexts.language)}>
        {languages.map((each) => (
          <a
            key={each}
            href={hrefIn(each)}
            lang={each}
            hrefLang={each}
            aria-current={language.value === each ? 'true' : undefined}
          >
            {languageNames[each]}
          </a>
        ))}
      </nav>
      <LiveSign />
    </header>
  );
}

function search(event: SubmitEvent): void {
  open(hrefTo('search', { text: sentText(event, 'text') }));
}

function SearchField() {
  const { view, fields } = place.value;
  const text = view === 'search' ? (fields['text'] ?? '') : '';
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- search is a landmark, and its form takes the events
    <search>
      <form onSubmit={search}>
        <input
          type="search"
          name="text"
          key={text}
          defaultValue={text}
          maxLength={255}
          aria-label={say(pageTexts.searchFor)}
          placeholder={say(pageTexts.searchFor)}
        />
        <button type="submit">{say(pageTexts.search)}</button>
      </form>
    </search>
  );
}

/** Milliseconds since the last event; reads `now` and thereby renews every second. */
function eventAgeMs(): number {
  const current = now.value;
  return current === 0 ? 0 : performance.now() - feed.lastEventAt.value;
}

function ageText(ms: number): string {
  return relativeTime(-ms, 0);
}

function LiveSign() {
  const mode = feed.mode.value;
  if (mode === 'polling') return <p class="live">{say(pageTexts.polling)}</p>;
  if (mode === 'connecting') return <p class="live">{say(pageTexts.connecting)}</p>;
  const ageMs = eventAgeMs();
  return (
    <p class="live">
      {say(filled(pageTexts.lastEvent, { age: ageText(ageMs) }))}{' '}
      {ageMs < silentMs && <span class="sign good">● {say(pageTexts.live)}</span>}
    </p>
  );
}

/** Banner while the stream is silent. */
export function SilenceBanner() {
  const age = eventAgeMs();
  if (feed.mode.value === 'polling' || age < silentMs) return null;
  return (
    <p class="banner" role="status">
      △ {say(filled(pageTexts.notLive, { age: ageText(age) }))}
    </p>
  );
}
