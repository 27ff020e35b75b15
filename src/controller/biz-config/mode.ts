import { annotations, type BizConfigMode } from '../../api/names.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';

/** Mode of one MultiNicBizConfig. */
export interface Mode {
  readonly kind: 'active' | 'read-only';
  /** Reason for read-only, for users. */
  readonly why: string;
  /** Invalid annotation value; undefined: absent or valid. */
  readonly unknown: string | undefined;
}

/**
 * Returns an object's mode: read-only if the setting or the annotation says so. An unknown annotation value counts as
 * read-only.
 */
export function modeOf({ metadata }: BizConfig, setting: Exclude<BizConfigMode, 'off'>): Mode {
  const value = metadata.annotations?.[annotations.bizConfigMode]?.trim().toLowerCase() ?? '';
  const isKnown = ['', 'active', 'read-only'].includes(value);
  const unknown = isKnown ? undefined : value.slice(0, 64).toWellFormed();
  if (unknown !== undefined) {
    const why = `annotation ${annotations.bizConfigMode} has the unknown value "${unknown}" and counts as read-only: set it to read-only, or remove it`;
    return { kind: 'read-only', why, unknown };
  }
  if (value === 'read-only') {
    return {
      kind: 'read-only',
      why: `annotation ${annotations.bizConfigMode} is read-only`,
      unknown,
    };
  }
  const why = setting === 'active' ? '' : 'the controller runs with --biz-config=read-only';
  return { kind: setting, why, unknown };
}
