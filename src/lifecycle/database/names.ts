/** Init container that installs or upgrades the data. */
export const prepareContainer = 'prepare-data';

/** Pod of the StatefulSet's only replica. */
export const databasePodName = 'mariadb-0';

/** Time for a clean stop: after an unclean one a newer series refuses the redo log. */
export const graceSeconds = 120;
