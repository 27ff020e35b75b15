import type { About } from '../../src/process/about.ts';

/** What a process of a test says of itself. */
export const about: About = {
  version: { version: '1.2.3', commit: 'abc', node: 'v24.0.0', agentProtocols: [1, 2, 3] },
  settings: { pace: { value: 5_000, from: '--pace' } },
};
