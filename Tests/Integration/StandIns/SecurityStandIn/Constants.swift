// Names and numbers of `SecItem.h` and `SecBase.h`; the texts are what Apple's keychain uses.

package let kSecClass: CFString = "class"
package let kSecClassGenericPassword: CFString = "genp"
package let kSecAttrAccessGroup: CFString = "agrp"
package let kSecAttrAccessible: CFString = "pdmn"
package let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
package let kSecAttrAccount: CFString = "acct"
package let kSecAttrGeneric: CFString = "gena"
package let kSecAttrLabel: CFString = "labl"
package let kSecAttrModificationDate: CFString = "mdat"
package let kSecAttrService: CFString = "svce"
package let kSecMatchLimit: CFString = "m_Limit"
package let kSecMatchLimitAll: CFString = "m_LimitAll"
package let kSecMatchLimitOne: CFString = "m_LimitOne"
package let kSecReturnAttributes: CFString = "r_Attributes"
package let kSecReturnData: CFString = "r_Data"
package let kSecUseDataProtectionKeychain: CFString = "nleg"
package let kSecValueData: CFString = "v_Data"

package let errSecSuccess: OSStatus = 0
package let errSecDiskFull: OSStatus = -34
package let errSecParam: OSStatus = -50
package let errSecNotAvailable: OSStatus = -25_291
package let errSecAuthFailed: OSStatus = -25_293
package let errSecDuplicateItem: OSStatus = -25_299
package let errSecItemNotFound: OSStatus = -25_300
package let errSecInteractionNotAllowed: OSStatus = -25_308
package let errSecDecode: OSStatus = -26_275
package let errSecInternalError: OSStatus = -26_276
package let errSecMissingEntitlement: OSStatus = -34_018
