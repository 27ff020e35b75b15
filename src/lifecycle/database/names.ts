/** Init container that installs or upgrades the data. */
export const prepareContainer = 'prepare-data';

/** Pod of the StatefulSet's only replica. */
export const databasePodName = 'mariadb-0';

/** Seconds for a clean stop: a newer series may refuse the redo log of an unclean stop. */
export const graceSeconds = 120;
