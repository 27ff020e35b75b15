import * as z from 'zod';
import {
  type BizConfigSpec,
  type BizConfigStatus,
  bizConfigSpec,
  bizConfigStatus,
} from '../api/multinicbizconfig.ts';
import type { BizConfigGroup } from '../api/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { defineResource, type Resource } from '../kube/resource.ts';

/** A MultiNicBizConfig as it was read. */
export interface BizConfig extends KubeObject {
  /** Undefined when it cannot be read; then no object changes. An object without a spec has no nodes. */
  readonly spec: BizConfigSpec | undefined;
  /** Which field of the spec cannot be read, and why; empty when `spec` is defined. */
  readonly flaw: string;
  readonly status: BizConfigStatus | undefined;
}

type RawObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** Reads what a server with a looser CRD may hold; never throws. */
export function readBizConfig(raw: unknown): BizConfig {
  const { spec = {}, status, ...object } = raw as RawObject;
  const read = bizConfigSpec.safeParse(spec);
  const { managedFields: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata,
    spec: read.data,
    flaw: read.success ? '' : z.prettifyError(read.error),
    status: bizConfigStatus.safeParse(status).data,
  };
}

/** The kind in one of its groups. */
export function bizConfigsIn(group: BizConfigGroup): Resource<BizConfig> {
  return defineResource<BizConfig>({
    group,
    version: 'v1',
    plural: 'multinicbizconfigs',
    kind: 'MultiNicBizConfig',
    namespaced: true,
    parse: readBizConfig,
  });
}
