import type { Setting } from './setting.ts';

/** Contract test; the id is the same for every cloud. */
export type Contract = (
  id: string,
  title: string,
  check: (setting: Setting) => Promise<void>,
) => void;
