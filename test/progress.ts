import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

/** Environment variable with the path of the file; unset: nothing is written. */
const variable = 'MULTINIC_TEST_PROGRESS';

/** Writes how many test files have ended, such as `3 of 12 files`, for the progress line of test/stage. */
// oxlint-disable-next-line import/no-default-export -- vitest loads the default export of a reporter's file
export default class Progress implements Reporter {
  readonly #path = process.env[variable];
  #files = 0;
  #ended = 0;

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#files = specifications.length;
    this.#write();
  }

  onTestModuleEnd(): void {
    this.#ended += 1;
    this.#write();
  }

  #write(): void {
    if (this.#path) writeFileSync(this.#path, `${this.#ended} of ${this.#files} files`);
  }
}
