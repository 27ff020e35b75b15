/** Exit statuses of the init container: reasons for blocking mariadbd from the volume. */
export const refusals = {
  newerData: 3,
  foreignFiles: 4,
  installFailed: 5,
  /** InnoDB refused the files before any change. */
  openRefused: 6,
  missingPrograms: 7,
  /** The newer server has opened the files. */
  upgradeFailed: 8,
} as const;
