// What the description of the API says of each operation: the words, the examples and the answers. Methods, paths,
// permissions and the schemas of bodies are those of the table of operations.

/** An operation of the table must have one of these names, so that none is added without a description. */
export type OperationId =
  | 'getOrCreateUserGroup'
  | 'updateUserGroup'
  | 'rotateUserGroupToken'
  | 'createUserGroup'
  | 'readUserGroup'
  | 'patchUserGroup'
  | 'deleteUserGroup'
  | 'listUserGroups'
  | 'resolveUserGroupToken';
