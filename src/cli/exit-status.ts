/** Exit statuses of commands for users. */
export const exit = { done: 0, failed: 1, usage: 2, refused: 3, changes: 4 } as const;

export type ExitStatus = (typeof exit)[keyof typeof exit];

/** Sets the exit status for a command without an error; default `done`. */
export type EndWith = (status: ExitStatus) => void;
