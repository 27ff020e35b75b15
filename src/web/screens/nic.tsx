import type { ComponentChildren } from 'preact';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { type ScreenReader, useScreen } from '../data/screen-reader.ts';
import { type Fact, Facts, Section } from '../parts/facts.tsx';
import { pictureSign } from '../parts/picture-layout.ts';
import { Screen } from '../parts/screen.tsx';
import { Name, NameLink, Names, Sign, Words } from '../parts/texts.tsx';
import { hrefToConfig, hrefToNode } from '../place/links.ts';
import { dateTime } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { NicState } from './nic-state.tsx';
import { concernsNode, openNode } from './node.tsx';
import type { ScreenProps } from './screen-props.ts';
import { Timeline } from './timeline.tsx';
import { WhySteps } from './why-steps.tsx';

type NicAnswer = ScreenAnswer<'nic'>;

/** One NIC: why, state, timeline. */
export function NicScreen({ fields: { cluster = '', node = '', nic = '' } }: ScreenProps) {
  const path = apiPath(['nics', cluster, node, nic]);
  const options = { ...openNode, concerns: concernsNode(cluster, node) };
  const reader = useScreen('nic', path, options);
  return <NicOrPort word={say(pageTexts.nic)} name={nic} reader={reader} />;
}

/** A port without NIC. */
export function PortScreen({ fields: { port = '' } }: ScreenProps) {
  const reader = useScreen('port', apiPath(['ports', port]), openNode);
  return <NicOrPort word={say(pageTexts.port)} name={port} reader={reader} />;
}

function NicOrPort({
  word,
  name,
  reader,
}: {
  readonly word: string;
  readonly name: string;
  readonly reader: ScreenReader<NicAnswer>;
}) {
  const title = (
    <>
      {word} <Name value={name} />
    </>
  );
  return (
    <Screen title={title} reader={reader}>
      {(answer) => <NicContent answer={answer} />}
    </Screen>
  );
}

export function NicContent({ answer }: { readonly answer: NicAnswer }) {
  const { why, state, timeline, timelineSince } = answer;
  return (
    <>
      <NicFacts answer={answer} />
      <Section title={say(screenTexts.why)}>
        <p class="answer">
          <Sign of={why.conclusion} /> <Words text={why.headline} />
        </p>
        <WhySteps steps={why.steps} answer={why.answer} />
      </Section>
      <Section title={say(screenTexts.stateOf)}>
        {state ? <NicState state={state} /> : <p class="empty">{say(screenTexts.noState)}</p>}
      </Section>
      <Section title={say(screenTexts.timeline)}>
        <Timeline entries={timeline} />
        {timelineSince !== undefined && (
          <p class="quiet">
            {say(filled(screenTexts.historySince, { at: dateTime(Date.parse(timelineSince)) }))}
          </p>
        )}
      </Section>
    </>
  );
}

function NicFacts({ answer }: { readonly answer: NicAnswer }) {
  const { row, portId, config } = answer;
  const configLink = config !== undefined && (
    <NameLink value={config} href={hrefToConfig(config)} />
  );
  const facts: readonly Fact[] = [
    ...(row ? rowFacts(row) : []),
    [screenTexts.node, nodeLink(answer)],
    [screenTexts.config, configLink],
    [screenTexts.port, portId],
  ];
  return <Facts facts={facts} />;
}

function rowFacts(row: NonNullable<NicAnswer['row']>): readonly Fact[] {
  return [
    [screenTexts.state, <Sign key="state" of={pictureSign(row)} />],
    [screenTexts.reason, row.reason],
    [screenTexts.addresses, <Names key="addresses" values={row.addresses} />],
    [screenTexts.mac, row.macAddress],
    [screenTexts.subnet, row.subnetName],
    [screenTexts.portStatus, row.portStatus],
  ];
}

function nodeLink({ providerId, nodeName }: NicAnswer): ComponentChildren {
  if (providerId === undefined || nodeName === undefined) return undefined;
  return <NameLink value={`${providerId}/${nodeName}`} href={hrefToNode(providerId, nodeName)} />;
}
