import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { now } from '../data/server-clock.ts';
import { Conditions } from '../parts/conditions.tsx';
import { Facts, Section } from '../parts/facts.tsx';
import { Parts } from '../parts/parts-table.tsx';
import { Screen } from '../parts/screen.tsx';
import { Age, Name, Sign, Words } from '../parts/texts.tsx';
import { number, quantity, relativeTime } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type OperatorAnswer = ScreenAnswer<'operator'>;
type Operator = OperatorAnswer['operators'][number];

/** MultiNicOperators: database, backups, operation; and the parts. */
export function OperatorScreen() {
  const reader = useScreen('operator', apiPath(['operator']));
  return (
    <Screen title={say(pageTexts.operator)} reader={reader}>
      {(answer) => <OperatorContent answer={answer} />}
    </Screen>
  );
}

export function OperatorContent({
  answer: { operators, parts },
}: {
  readonly answer: OperatorAnswer;
}) {
  return (
    <>
      {operators.length === 0 && <p class="empty">{say(screenTexts.noOperators)}</p>}
      {operators.map((operator) => (
        <OperatorSection key={`${operator.namespace}/${operator.name}`} operator={operator} />
      ))}
      <Section title={say(screenTexts.parts)}>
        <Parts parts={parts} />
      </Section>
    </>
  );
}

const phaseSigns: Readonly<Record<string, string>> = {
  Running: 'ok',
  Degraded: 'warn',
  Error: 'fail',
};

function OperatorSection({ operator }: { readonly operator: Operator }) {
  const { namespace, name, phase, text, conditions, controller, protection, trigger } = operator;
  return (
    <Section title={<Name value={`${namespace}/${name}`} />}>
      <p class="answer">
        <Sign of={phaseSigns[phase] ?? 'unknown'} /> <Name value={phase} />: <Words text={text} />
      </p>
      <Facts
        facts={[
          [
            screenTexts.controller,
            controller && replicas(controller.readyReplicas, controller.desiredReplicas),
          ],
          [screenTexts.trigger, trigger && <TriggerText trigger={trigger} />],
          [
            screenTexts.protection,
            protection && (
              <Sign of={protection.active ? 'ok' : 'warn'}>
                {' '}
                (
                {say(
                  filled(screenTexts.refusals, {
                    changes: quantity(protection.preventedMutations ?? 0, 'change'),
                  }),
                )}
                )
              </Sign>
            ),
          ],
        ]}
      />
      <Database operator={operator} />
      <h3>{say(screenTexts.conditions)}</h3>
      <Conditions conditions={conditions} />
    </Section>
  );
}

function replicas(ready: number | undefined, all: number | undefined): string {
  return `${ready ?? 0}/${all ?? '?'}`;
}

function TriggerText({ trigger }: { readonly trigger: NonNullable<Operator['trigger']> }) {
  const { mode, interval = '', schedule = '', timezone = '' } = trigger;
  return (
    <Name value={[mode, interval, schedule, timezone].filter((each) => each !== '').join(' ')} />
  );
}

function Database({ operator }: { readonly operator: Operator }) {
  const { database, operation, lastBackup, lastRestore, backupSchedule } = operator;
  if (database === undefined) return null;
  return (
    <>
      <h3>{say(screenTexts.database)}</h3>
      <Facts
        facts={[
          [screenTexts.phase, database.phase],
          [screenTexts.version, database.version],
          [screenTexts.replicas, number(database.readyReplicas ?? 0)],
          [screenTexts.schedule, <Schedule key="schedule" schedule={backupSchedule} />],
          [screenTexts.backup, lastBackup ? <Backup backup={lastBackup} /> : say(pageTexts.never)],
          [
            screenTexts.restore,
            lastRestore && (
              <>
                <Age at={lastRestore.at} /> <Name value={lastRestore.result} />
              </>
            ),
          ],
          [screenTexts.operation, operation && <Operation operation={operation} />],
        ]}
      />
    </>
  );
}

function Schedule({ schedule }: { readonly schedule: string | undefined }) {
  if (schedule === '') return <>{say(screenTexts.noBackups)}</>;
  return <Name value={schedule} />;
}

function Backup({ backup }: { readonly backup: NonNullable<Operator['lastBackup']> }) {
  return (
    <>
      <Age at={backup.at} /> <Name value={backup.file} /> (
      {say(backup.verified ? screenTexts.verified : screenTexts.notVerified)})
    </>
  );
}

function Operation({ operation }: { readonly operation: NonNullable<Operator['operation']> }) {
  const { kind, request, step, startedAt, deadline } = operation;
  const end = Date.parse(deadline ?? '');
  return (
    <>
      <Sign of="running" /> <Name value={kind} /> <Name value={request} />: <Name value={step} /> (
      <Age at={startedAt} />
      {!Number.isNaN(end) && (
        <>; {say(filled(screenTexts.until, { age: relativeTime(end, now.value) }))}</>
      )}
      )
    </>
  );
}
