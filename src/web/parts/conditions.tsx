import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { say } from '../words/language.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { type Column, Table } from './table.tsx';
import { Age, Name, Sign, Words } from './texts.tsx';

type Condition = ScreenAnswer<'node'>['conditions'][number];

const goodWhenTrue = new Set([
  'Ready',
  'Accepted',
  'Applied',
  'ClusterUnique',
  'CredentialsValid',
  'Delivered',
  'InventoryComplete',
  'NICsReady',
  'TLSVerified',
]);
const goodWhenFalse = new Set(['Degraded', 'Drifted', 'NameDiffers', 'Paused', 'Stalled']);

/** Returns the sign of a condition's status; undefined: no status is better than another. */
function signName({ type, status }: Condition): string | undefined {
  if (status === 'Unknown' || goodWhenTrue.has(type)) return status;
  if (!goodWhenFalse.has(type)) return undefined;
  return status === 'False' ? 'ok' : 'warn';
}

function Status({ condition }: { readonly condition: Condition }) {
  const sign = signName(condition);
  return (
    <>
      {sign === undefined ? condition.status : <Sign of={sign} />}
      {condition.isOutdated && <span class="quiet"> ({say(screenTexts.outdated)})</span>}
    </>
  );
}

const columns: readonly Column<Condition>[] = [
  { title: screenTexts.condition, cell: ({ type }) => <Name value={type} /> },
  {
    title: screenTexts.state,
    cell: (condition) => <Status condition={condition} />,
  },
  { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
  { title: screenTexts.message, cell: ({ text }) => <Words text={text} /> },
  { title: screenTexts.since, cell: ({ since }) => <Age at={since} /> },
];

/** An object's conditions in words. */
export function Conditions({ conditions }: { readonly conditions: readonly Condition[] }) {
  return (
    <Table
      label={say(screenTexts.conditions)}
      columns={columns}
      rows={conditions}
      keyOf={({ type }) => type}
      empty={screenTexts.noConditions}
    />
  );
}
