import type { Setting } from './setting.ts';

/** One test of the contract; the id is the same wherever the suite runs. */
export type Contract = (
  id: string,
  title: string,
  check: (setting: Setting) => Promise<void>,
) => void;
