import type { EnvironmentVariable } from '../../api/multinicoperator.ts';

/** A field that cannot be used: the stage that reads it changes nothing. */
export interface Problem {
  /** Such as `spec.database.storageSize`. */
  readonly field: string;
  /** What is wrong with which value, and what to do. */
  readonly message: string;
}

/** What a stage is to do, or why it is to change nothing. */
export type Checked<T> =
  | { readonly value: T; readonly problems?: never }
  | { readonly value?: never; readonly problems: readonly [Problem, ...Problem[]] };

/** Kubernetes quantities, as the API server writes them back. */
export interface Resources {
  readonly cpu?: string;
  readonly memory?: string;
}

export interface CredentialsWanted {
  readonly database: string;
  readonly user: string;
  /** From the spec; undefined: generated, or taken over. */
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
}

/** Where the operator keeps its inventory. */
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
  /** Operations that the webhook lets through. */
  readonly allowed: ReadonlySet<'update' | 'delete' | 'scale'>;
  /** Protection and recovery pause until then. */
  readonly breakGlassUntil?: Date;
}

/** A spec with its defaults, checked stage by stage. */
export interface Accepted {
  /** Undefined: no database of ours is wanted. */
  readonly credentials: Checked<CredentialsWanted | undefined>;
  readonly database: Checked<DatabaseWanted | undefined>;
  readonly backup: Checked<BackupWanted | undefined>;
  readonly controller: Checked<ControllerWanted>;
  /** Text of `trigger.yaml`; undefined: no ConfigMap. */
  readonly triggers: Checked<string | undefined>;
  readonly protection: Checked<ProtectionWanted>;
  /** Annotations that cannot be used: they count as absent, and no stage stops. */
  readonly ignored?: readonly Problem[];
}
