/**
 * Tables of the inventory, by the migration that creates them. A database whose table `migrations` has the migration must
 * have these tables.
 */
export const inventoryTables = {
  '0001-node-config': ['node_config'],
  '0002-change-log': ['change_log'],
  '0003-server-nics': ['server_nics'],
  '0004-deployed-tables': ['multi_subnet', 'node_table', 'multi_interface', 'cr_state'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Tables of the first generation's operator, which writes no table `migrations`. */
export const formerTables = inventoryTables['0004-deployed-tables'];
