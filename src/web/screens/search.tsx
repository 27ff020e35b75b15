import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { Heading, Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Name, NameLink, Sign } from '../parts/texts.tsx';
import { hrefOf } from '../place/links.ts';
import { quantity } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { fieldTexts, screenTexts } from '../words/screen-texts.ts';
import type { ScreenProps } from './screen-props.ts';

type SearchAnswer = ScreenAnswer<'search'>;

/** Shortest text for a search (characters). */
const shortestText = 2;

/** Objects with a text in name, address, MAC, port or server. */
export function SearchScreen({ fields: { text = '' } }: ScreenProps) {
  const wanted = text.trim();
  if (wanted.length >= shortestText) return <Results key={wanted} text={wanted} />;
  return (
    <>
      <Heading>{say(pageTexts.search)}</Heading>
      <p>{say(screenTexts.tooShort)}</p>
    </>
  );
}

function Results({ text }: { readonly text: string }) {
  const reader = useScreen('search', apiPath(['search'], { text }));
  return (
    <Screen title={say(pageTexts.search)} reader={reader}>
      {(answer) => <SearchContent answer={answer} text={text} />}
    </Screen>
  );
}

export function SearchContent({
  answer: { hits, count },
  text,
}: {
  readonly answer: SearchAnswer;
  readonly text: string;
}) {
  return (
    <>
      <p role="status">
        <Name value={say(filled(screenTexts.hits, { results: quantity(count, 'result'), text }))} />
      </p>
      <Table
        label={say(pageTexts.search)}
        columns={columns}
        rows={hits}
        keyOf={({ title, field, value }) => `${title} ${field} ${value}`}
        empty={screenTexts.noHits}
      />
    </>
  );
}

const columns: readonly Column<SearchAnswer['hits'][number]>[] = [
  {
    title: screenTexts.result,
    cell: ({ title, link }) => <NameLink value={title} href={hrefOf(link)} />,
  },
  { title: screenTexts.state, cell: ({ state }) => state && <Sign of={state} /> },
  { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
  {
    title: screenTexts.found,
    cell: ({ field, value }) => (
      <>
        {say(fieldTexts[field])}: <Name value={value} />
      </>
    ),
  },
];
