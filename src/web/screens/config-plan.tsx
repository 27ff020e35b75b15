import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { budgetTitles, holdTitles } from '../../api/texts/titles.ts';
import { Facts, Section } from '../parts/facts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Age, Name, Words } from '../parts/texts.tsx';
import { number, quantity } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type Plan = NonNullable<ScreenAnswer<'config'>['plan']>;

/** Plan of the last sync: waiting removals, budgets, problems. */
export function ConfigPlan({ plan }: { readonly plan: Plan }) {
  const { hash, at, budgets = [], problems, heldNics, heldRemovals, unconfirmed } = plan;
  const heldText = say(filled(screenTexts.heldNics, { nics: quantity(heldRemovals, 'NIC') }));
  return (
    <Section title={say(screenTexts.plan)}>
      <Facts
        facts={[
          [screenTexts.planHash, <code key="hash">{hash.slice(0, 12)}</code>],
          [screenTexts.calculated, <Age key="at" at={at} />],
        ]}
      />
      {unconfirmed > 0 && (
        <p>△ {say(filled(screenTexts.unconfirmed, { nics: quantity(unconfirmed, 'NIC') }))}</p>
      )}
      {heldRemovals > 0 && (
        <>
          <h3>△ {heldText}</h3>
          <Table
            label={heldText}
            columns={heldColumns}
            rows={heldNics}
            keyOf={({ nodeName, macAddress }) => `${nodeName} ${macAddress}`}
            empty={screenTexts.noNics}
          />
        </>
      )}
      {problems.length > 0 && (
        <>
          <h3>{say(screenTexts.problems)}</h3>
          <ul>
            {problems.map(({ reason, subject, message }) => (
              <li key={`${reason} ${subject}`}>
                <Name value={reason} /> <Name value={subject} />: <Name value={message} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>{say(screenTexts.budgets)}</h3>
      <Table
        label={say(screenTexts.budgets)}
        columns={budgetColumns}
        rows={budgets}
        keyOf={({ scope }) => scope}
        empty={pageTexts.unknown}
      />
    </Section>
  );
}

const heldColumns: readonly Column<Plan['heldNics'][number]>[] = [
  { title: screenTexts.node, cell: ({ nodeName }) => <Name value={nodeName} /> },
  { title: screenTexts.nics, cell: ({ name }) => <Name value={name} /> },
  { title: screenTexts.mac, cell: ({ macAddress }) => <Name value={macAddress} /> },
  { title: screenTexts.basis, cell: ({ basis }) => <Name value={basis} /> },
  { title: screenTexts.reason, cell: ({ code }) => code && <Words text={holdTitles[code]} /> },
];

const budgetColumns: readonly Column<NonNullable<Plan['budgets']>[number]>[] = [
  { title: screenTexts.budget, cell: ({ scope }) => <Words text={budgetTitles[scope]} /> },
  { title: screenTexts.used, cell: ({ used }) => number(used), isNumber: true },
  { title: screenTexts.allowed, cell: ({ allowed }) => number(allowed), isNumber: true },
  { title: screenTexts.total, cell: ({ total }) => number(total), isNumber: true },
  {
    title: screenTexts.freeAgain,
    cell: ({ freeAt }) => <Age at={freeAt} absent={pageTexts.none} />,
  },
];
