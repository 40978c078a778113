import type { RoleState } from './role-state.ts';

/** Comment on each role that names its deployment: roles are shared by all databases of a cluster. */
export function ownerComment(deploymentId: string): string {
  return `Caudal deployment ${deploymentId}`;
}

const OWN_PREFIX =
  'set CAUDAL_DATABASE_ROLE_PREFIX to a unique prefix for all processes of this deployment, then run `caudal migrate` again';

/**
 * Explains why this deployment cannot use these roles. A role without privileges in other databases is free to use: no
 * other deployment can depend on it. A role with privileges elsewhere must carry this deployment's id, which happens
 * after a restore or a copy within the cluster.
 * @param deploymentId null before the deployment is recorded in the database
 */
export function findRoleProblems(states: readonly RoleState[], deploymentId: string | null): string[] {
  return states.filter(({ exists }) => exists).flatMap((state) => checkRole(state, deploymentId));
}

function checkRole(state: RoleState, deploymentId: string | null): string[] {
  const { name, comment, usedBy } = state;
  const ours = deploymentId !== null && comment === ownerComment(deploymentId);
  const databases = usedBy.map((database) => `"${database}"`).join(', ');
  if (usedBy.length > 0 && !ours) {
    const copy =
      deploymentId === null
        ? ''
        : `; if that database is a copy of this one, first run: comment on role ${name} is '${ownerComment(deploymentId)}'`;
    return [
      comment === null
        ? `the role ${name} has privileges in the database ${databases} and no comment that names its deployment: ${OWN_PREFIX}${copy}`
        : `the role ${name} belongs to another deployment, in the database ${databases} (its comment: "${comment}"): ${OWN_PREFIX}`,
    ];
  }
  const problems = [
    ...(state.superuser
      ? [`the role ${name} is a superuser: an administrator must run: alter role ${name} nosuperuser`]
      : []),
    ...(state.bypassesRls
      ? [
          `the role ${name} bypasses row-level security: an administrator must run: alter role ${name} nobypassrls`,
        ]
      : []),
    ...(state.canLogin
      ? []
      : [`the role ${name} may not log in: an administrator must run: alter role ${name} login`]),
  ];
  if (state.passwordDiffers && usedBy.length > 0)
    problems.push(
      `the password of the role ${name} differs from the configured one, and the database ${databases} uses the role too: correct CAUDAL_MASTER_KEY or the URL of the role, or change the password yourself: alter role ${name} password '…'`,
    );
  return problems;
}
