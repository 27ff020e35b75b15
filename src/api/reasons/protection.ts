import { nothing, type ReasonRow, row } from './reason-row.ts';

/** Reasons for protecting and recovering managed objects, used in Events. */
export const protectionReasons = {
  MutationPrevented: row(
    'part',
    false,
    [
      'The admission webhook refused a change to a managed object; the message names user, operation and object.',
      '어드미션 웹훅이 관리 대상 객체의 변경을 거부했습니다. 메시지에 사용자, 작업, 객체가 나옵니다.',
    ],
    [
      'Change the MultiNicOperator instead; in an emergency set its annotation multinic.io/break-glass.',
      'MultiNicOperator를 변경하십시오. 긴급 상황에는 MultiNicOperator에 multinic.io/break-glass 어노테이션을 설정하십시오.',
    ],
  ),
  BreakGlass: row(
    'part',
    false,
    [
      'Protection and recovery of managed objects pause until the time in the annotation multinic.io/break-glass.',
      'multinic.io/break-glass 어노테이션의 시각까지 관리 대상 객체의 보호와 복구가 멈춥니다.',
    ],
    [
      'Remove the annotation to end the pause earlier.',
      '더 일찍 끝내려면 어노테이션을 제거하십시오.',
    ],
  ),
  ObjectRecovered: row(
    'part',
    false,
    [
      'Lifecycle restored a managed object that was deleted or changed; the message names fields and field manager.',
      'lifecycle이 삭제되거나 변경된 관리 대상 객체를 복구했습니다. 메시지에 필드와 필드 매니저가 나옵니다.',
    ],
    nothing,
  ),
  Contested: row(
    'part',
    true,
    [
      'Another field manager changes a managed object again after each repair; repairs of it wait up to 10 minutes.',
      '복구할 때마다 다른 필드 매니저가 관리 대상 객체를 다시 변경합니다. 이 객체의 복구는 최대 10분까지 기다립니다.',
    ],
    [
      'Stop the field manager that the message names, or change the MultiNicOperator.',
      '메시지에 나온 필드 매니저를 중지하거나 MultiNicOperator를 변경하십시오.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
