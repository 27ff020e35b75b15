import type { EnvironmentVariable } from '../../api/multinicoperator.ts';

/** An unusable field: the stage reading the field changes nothing. */
export interface Problem {
  /** Such as `spec.database.storageSize`. */
  readonly field: string;
  /** Error with the value, and the fix. */
  readonly message: string;
}

/** Input for a stage, or problems for which the stage changes nothing. */
export type Checked<T> =
  | { readonly value: T; readonly problems?: never }
  | { readonly value?: never; readonly problems: readonly [Problem, ...Problem[]] };

/** Kubernetes quantities in the API server's canonical form. */
export interface Resources {
  readonly cpu?: string;
  readonly memory?: string;
}

export interface CredentialsWanted {
  readonly database: string;
  readonly user: string;
  /** Password from the spec; undefined: generated or taken over. */
  readonly rootPassword?: string;
  readonly password?: string;
}

export interface DatabaseWanted {
  readonly image: string;
  readonly storageSize: string;
  readonly resources: Resources;
  readonly service: {
    readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
    readonly port: number;
    readonly nodePort?: number;
  };
}

export interface BackupWanted {
  /** Undefined: no scheduled backups. */
  readonly schedule?: string;
  readonly retention: number;
  /** Undefined: the default for the database's size. */
  readonly storageSize?: string;
}

/** Location of the operator's inventory. */
export type InventoryKind = 'sqlite' | 'built-in' | 'external';

export interface ControllerWanted {
  readonly image?: string;
  readonly replicas?: number;
  readonly resources: Resources;
  readonly healthPort?: number;
  readonly livenessPath?: string;
  readonly env: readonly EnvironmentVariable[];
  readonly inventory: InventoryKind;
  /** OPENSTACK_DEFAULT_* by name. */
  readonly openstackDefaults: Readonly<Record<string, string>>;
}

export interface ProtectionWanted {
  readonly preventsMutations: boolean;
  readonly recovers: boolean;
  /** Operations that the webhook allows. */
  readonly allowed: ReadonlySet<'update' | 'delete' | 'scale'>;
  /** Protection and recovery pause until this time. */
  readonly breakGlassUntil?: Date;
}

/** A spec with defaults, checked per stage. */
export interface Accepted {
  /** Undefined: no managed database. */
  readonly credentials: Checked<CredentialsWanted | undefined>;
  readonly database: Checked<DatabaseWanted | undefined>;
  readonly backup: Checked<BackupWanted | undefined>;
  readonly controller: Checked<ControllerWanted>;
  /** Text of `trigger.yaml`; undefined: no ConfigMap. */
  readonly triggers: Checked<string | undefined>;
  readonly protection: Checked<ProtectionWanted>;
  /** Unusable annotations: treated as absent, and no stage stops. */
  readonly ignored?: readonly Problem[];
}
