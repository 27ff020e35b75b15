import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { csvOf } from '../data/csv.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { FilterText } from '../parts/filter-text.tsx';
import { Pager } from '../parts/pager.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { At, Name, NameLink, Names } from '../parts/texts.tsx';
import { hrefToConfig, hrefToNic, hrefToNode } from '../place/links.ts';
import { changed, type Fields } from '../place/place.ts';
import { dateTime } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { changeTexts, screenTexts } from '../words/screen-texts.ts';
import type { ScreenProps } from './screen-props.ts';

type History = ScreenAnswer<'history'>;
type Change = History['items'][number];

/** NIC changes with time and OpenstackConfig. */
export function HistoryScreen({ fields }: ScreenProps) {
  const reader = useScreen('history', apiPath(['history'], fields));
  return (
    <Screen title={say(pageTexts.history)} reader={reader}>
      {(answer) => <HistoryContent answer={answer} fields={fields} />}
    </Screen>
  );
}

export function HistoryContent({
  answer: { items, oldest, continue: next },
  fields,
}: {
  readonly answer: History;
  readonly fields: Fields;
}) {
  return (
    <>
      <FilterText
        view="history"
        fields={fields}
        name="target"
        label={say(screenTexts.historyTarget)}
        button={say(screenTexts.apply)}
      />
      <Table
        label={say(pageTexts.history)}
        columns={columns}
        rows={items}
        keyOf={keyOf}
        empty={screenTexts.noChanges}
      />
      <Pager
        view="history"
        fields={changed(fields, {})}
        isFirst={fields['continue'] === undefined}
        next={next}
      />
      {items.length > 0 && (
        <button type="button" onClick={() => save(items)}>
          {say(screenTexts.exportCsv)}
        </button>
      )}
      {oldest !== undefined && (
        <p class="quiet">
          {say(filled(screenTexts.historySince, { at: dateTime(Date.parse(oldest)) }))}
        </p>
      )}
    </>
  );
}

function keyOf({ at, providerId, nodeName, nic, portId, change }: Change): string {
  return [at, providerId, nodeName, nic, portId, change].join(' ');
}

const columns: readonly Column<Change>[] = [
  { title: screenTexts.time, cell: ({ at }) => <At at={at} /> },
  { title: screenTexts.change, cell: ({ change }) => say(changeTexts[change]) },
  {
    title: screenTexts.node,
    cell: ({ providerId, nodeName }) => (
      <NameLink value={`${providerId}/${nodeName}`} href={hrefToNode(providerId, nodeName)} />
    ),
  },
  {
    title: screenTexts.nics,
    cell: ({ providerId, nodeName, nic }) => (
      <NameLink value={nic} href={nic === '' ? undefined : hrefToNic(providerId, nodeName, nic)} />
    ),
  },
  { title: screenTexts.addresses, cell: ({ addresses }) => <Names values={addresses} /> },
  {
    title: screenTexts.details,
    cell: ({ fields }) => (
      <Names values={fields.map(({ name, before, after }) => `${name} ${before} → ${after}`)} />
    ),
  },
  { title: screenTexts.basis, cell: ({ basis }) => <Name value={basis} /> },
  {
    title: screenTexts.config,
    cell: ({ config }) => <NameLink value={config} href={hrefToConfig(config)} />,
  },
];

/** Saves the rows as a file. A click on a link with a name is the only way without a request. */
function save(items: readonly Change[]): void {
  const head = 'at,cluster,node,nic,port,mac,change,basis,addresses,fields,config,generation';
  const rows = items.map((item) => [
    item.at,
    item.providerId,
    item.nodeName,
    item.nic,
    item.portId,
    item.macAddress,
    item.change,
    item.basis ?? '',
    item.addresses.join(' '),
    item.fields.map(({ name, before, after }) => `${name} ${before} → ${after}`).join('; '),
    item.config,
    String(item.generation),
  ]);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csvOf(head.split(','), rows)], { type: 'text/csv' }));
  link.download = 'multinic-activity.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
