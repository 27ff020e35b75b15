import type { MultiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import type { BackupWanted, Checked, DatabaseWanted, Problem } from '../../model/accepted.ts';
import { checked, unusable } from './checked.ts';
import { whyNoSchedule } from './cron.ts';
import { imageProblems } from './image.ts';
import { portProblems } from './ports.ts';
import { readQuantity, readResources } from './resources.ts';

type Database = NonNullable<MultiNicOperatorSpec['database']>;
type Service = NonNullable<Database['service']>;
type Backup = NonNullable<Database['backup']>;

const serviceTypes = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;
type ServiceType = (typeof serviceTypes)[number];

/** Checks the server, its volume and its Service. */
export function acceptDatabase(
  { image = 'mariadb:10.11', storageSize = '10Gi', resources = {}, service = {} }: Database,
  field: string,
): Checked<DatabaseWanted> {
  const size = readQuantity(`${field}.storageSize`, storageSize, '10Gi');
  const used = readResources(resources, `${field}.resources`);
  const { type = 'ClusterIP', port = 3306, nodePort } = service;
  const problems = [
    ...imageProblems(`${field}.image`, image),
    ...('message' in size ? [size] : []),
    ...used.problems,
    ...serviceProblems({ type, port, nodePort }, `${field}.service`),
  ];
  return checked(
    {
      image,
      storageSize: 'message' in size ? storageSize : size.text,
      resources: used.value,
      service: {
        type: type as ServiceType,
        port,
        ...(nodePort === undefined ? {} : { nodePort }),
      },
    },
    problems,
  );
}

function serviceProblems({ type = '', port, nodePort }: Service, field: string): Problem[] {
  const isKnown = serviceTypes.some((one) => one === type);
  const unknown = unusable(
    `${field}.type`,
    type,
    `is not known; set it to one of ${serviceTypes.join(', ')}`,
  );
  const unused = unusable(
    `${field}.nodePort`,
    nodePort,
    `has no effect with type ClusterIP; set ${field}.type to NodePort, or remove it`,
  );
  return [
    ...(isKnown ? [] : [unknown]),
    ...portProblems(`${field}.port`, port),
    ...portProblems(`${field}.nodePort`, nodePort),
    ...(type === 'ClusterIP' && nodePort !== undefined ? [unused] : []),
  ];
}

/** Checks the backup schedule and the number of retained files. */
export function acceptBackup(
  { schedule = '0 3 * * *', retention = 7, storageSize }: Backup,
  field: string,
): Checked<BackupWanted> {
  const why = schedule === '' ? undefined : whyNoSchedule(schedule);
  const size = readSize(`${field}.storageSize`, storageSize);
  const problems: Problem[] = [...size.problems];
  if (why !== undefined) {
    const next = 'write five fields such as "0 3 * * *", or "" for no backups';
    problems.push(unusable(`${field}.schedule`, schedule, `cannot be used (${why}); ${next}`));
  }
  if (retention < 1) {
    const next = `set it to at least 1, or ${field}.schedule to "" for no backups`;
    problems.push(unusable(`${field}.retention`, retention, `retains no file; ${next}`));
  }
  return checked(
    {
      ...(schedule === '' ? {} : { schedule }),
      retention,
      ...(size.text === undefined ? {} : { storageSize: size.text }),
    },
    problems,
  );
}

function readSize(
  field: string,
  value: string | undefined,
): { readonly text?: string; readonly problems: readonly Problem[] } {
  if (value === undefined) return { problems: [] };
  const size = readQuantity(field, value, '21Gi');
  return 'message' in size ? { problems: [size] } : { text: size.text, problems: [] };
}
