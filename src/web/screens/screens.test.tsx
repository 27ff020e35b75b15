import type { ComponentChild } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { afterEach, expect, it } from 'vitest';
import { answers } from '../testing/answers.ts';
import { hostileName } from '../testing/values.ts';
import { language } from '../words/language.ts';
import { visible } from '../words/visible.ts';
import { ConfigContent } from './config.tsx';
import { ConfigsContent } from './configs.tsx';
import { DoctorContent } from './doctor.tsx';
import { FleetContent } from './fleet.tsx';
import { HistoryContent } from './history.tsx';
import { NicContent } from './nic.tsx';
import { NodeContent } from './node.tsx';
import { NodesContent } from './nodes.tsx';
import { OperatorContent } from './operator.tsx';
import { RolloutsContent } from './rollouts.tsx';
import { SearchContent } from './search.tsx';

/** Each screen with a Korean word from the page's texts. */
const screens: readonly (readonly [name: string, content: ComponentChild, korean: string])[] = [
  ['fleet', <FleetContent key="" fleet={answers.fleet} />, '비즈니스 클러스터'],
  ['nodes', <NodesContent key="" answer={answers.nodes} fields={{}} />, '마지막 점검'],
  ['node', <NodeContent key="" answer={answers.node} />, '기본 NIC(관리 대상 아님)'],
  ['nic', <NicContent key="" answer={answers.nic} />, '부팅 파일'],
  ['configs', <ConfigsContent key="" answer={answers.configs} />, '다음 동기화'],
  ['config', <ConfigContent key="" answer={answers.config} />, 'NIC 84개가 제거 승인을'],
  ['search', <SearchContent key="" answer={answers.search} text={hostileName} />, '검색 결과 2개'],
  ['doctor', <DoctorContent key="" answer={answers.doctor} />, '지원 번들'],
  ['history', <HistoryContent key="" answer={answers.history} fields={{}} />, 'CSV로 저장'],
  ['rollouts', <RolloutsContent key="" answer={answers.rollouts} />, '확대 단계'],
  ['operator', <OperatorContent key="" answer={answers.operator} />, '백업 일정'],
];

afterEach(() => {
  language.value = 'en';
});

/** The name as text: markup is escaped, controls are visible, and its direction is isolated. */
const shownName = `<bdi class="long-name">${visible(hostileName).replace('<', '&lt;')}</bdi>`;

it.each(screens)('the screen %s shows hostile names as isolated text', (_, content) => {
  const html = renderToString(<>{content}</>);
  for (const raw of ['<img', '\u202E', '\u0007']) expect(html).not.toContain(raw);
  expect(html).toContain(shownName);
});

it.each(screens)('the screen %s speaks Korean', (_, content, korean) => {
  language.value = 'ko';
  expect(renderToString(<>{content}</>)).toContain(korean);
});
