//! The macros that declare parameters.

/// Declares a struct of parameters.
///
/// ```
/// use rankwright_spec::{ParamGroup, Spec, above, choices, params, read_spec, write_spec};
///
/// choices! {
///     /// The next leaf to split.
///     pub enum Growth {
///         /// The leaf with the largest gain.
///         Leaf = "leaf",
///         /// All leaves of a level.
///         Depth = "depth",
///     }
/// }
///
/// params! {
///     /// Parameters of a tree.
///     pub struct TreeParams {
///         leaves: u32 = 31, 1..=65536, "Maximum number of leaves of a tree.";
///         growth: Growth = Growth::Leaf, .., "The next leaf to split.";
///         depth: u32 = 0, .., "Maximum depth of a tree; 0: no limit.", requires "growth=depth";
///         l2: f64 = 0.0, 0.0.., "L2 penalty on leaf values.";
///     }
///     /// Builder methods for the parameters of a tree.
///     pub trait TreeOptions: tree_params;
/// }
///
/// let tree = TreeParams::default().leaves(7).l2(1.0);
/// assert_eq!(write_spec("tree", &tree).to_string(), "tree(leaves=7, l2=1)");
/// assert_eq!(read_spec::<TreeParams>(&Spec::parse("tree(l2=1, leaves=7)")?)?, tree);
/// assert_eq!(tree.defs()[0].help, "Maximum number of leaves of a tree.");
/// let unused = read_spec::<TreeParams>(&Spec::parse("tree(depth=3)")?).unwrap_err();
/// assert!(unused.to_string().contains("depth is for growth=depth"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
///
/// A range is one of Rust's, `..` for any value, or [`above`](crate::above). The optional trait has
/// the builder methods, for structs that contain this one ([`param_groups!`](crate::param_groups)
/// implements it); the name after its colon is the method that returns the parameters to change.
/// Without the trait the struct has the builder methods itself. Conditions beyond `requires` go
/// into `check_together`: write `struct Name, check = function {`, where `function` takes `&Name`
/// and returns a [`Conflict`](crate::Conflict) as its error.
///
/// The struct is `#[non_exhaustive]`, so that a new parameter breaks no program: programs change its
/// defaults by the builder methods. `struct Name: literal` makes one that programs write as a
/// literal with all fields.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis struct $name:ident : literal $($rest:tt)*) => {
        $crate::params! { @declare [] $(#[$meta])* $vis struct $name $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $($rest:tt)*) => {
        $crate::params! { @declare [#[non_exhaustive]] $(#[$meta])* $vis struct $name $($rest)* }
    };
    (
        @declare [$($attribute:tt)*]
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(, check = $check:path)? {
            $(
                $field:ident : $type:ty = $default:expr, $range:expr, $help:literal
                $(, requires $requires:literal)? ;
            )*
        }
        $(
            $(#[$trait_meta:meta])*
            $trait_vis:vis trait $builder:ident : $access:ident ;
        )?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $($attribute)*
        $vis struct $name {
            $( #[doc = $help] pub $field: $type, )*
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::ParamGroup for $name {
            fn defs(&self) -> ::std::vec::Vec<$crate::ParamDef> {
                ::std::vec![ $( $crate::private::define(
                    stringify!($field),
                    &self.$field,
                    &$range,
                    $crate::params!(@option $($requires)?),
                    $help,
                ) ),* ]
            }

            fn set(&mut self, key: &str, text: &str) -> ::std::result::Result<bool, $crate::ValueError> {
                $( if key == stringify!($field) {
                    self.$field = $crate::private::read_value(text, &$range)?;
                    return Ok(true);
                } )*
                Ok(false)
            }

            fn text(&self, key: &str) -> ::std::option::Option<::std::string::String> {
                $( if key == stringify!($field) {
                    return Some($crate::ParamValue::write(&self.$field));
                } )*
                None
            }

            fn check_values(
                &self,
            ) -> ::std::result::Result<(), (&'static str, $crate::ValueError)> {
                $( $crate::private::check_value(&self.$field, &$range)
                    .map_err(|error| (stringify!($field), error))?; )*
                Ok(())
            }

            $(
                fn check_together(&self) -> ::std::result::Result<(), $crate::Conflict> {
                    $check(self)
                }
            )?
        }

        impl $crate::private::serde::Serialize for $name {
            fn serialize<S: $crate::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                $crate::private::serialize_group(self, serializer)
            }
        }

        impl<'de> $crate::private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::private::deserialize_group(deserializer)
            }
        }

        $crate::params! {
            @build $name { $( $field: $type, $help; )* }
            $( $(#[$trait_meta])* $trait_vis trait $builder : $access ; )?
        }
    };

    (@option) => { None };
    (@option $requires:literal) => { Some($requires) };

    (@build $name:ident { $( $field:ident : $type:ty, $help:literal; )* }) => {
        impl $name {
            $(
                #[doc = $help]
                #[must_use]
                pub fn $field(mut self, value: impl $crate::IntoParam<$type>) -> Self {
                    self.$field = $crate::IntoParam::into_param(value);
                    self
                }
            )*
        }
    };
    (
        @build $name:ident { $( $field:ident : $type:ty, $help:literal; )* }
        $(#[$trait_meta:meta])*
        $trait_vis:vis trait $builder:ident : $access:ident ;
    ) => {
        $(#[$trait_meta])*
        $trait_vis trait $builder: Sized {
            /// The parameters that the builder methods change.
            fn $access(&mut self) -> &mut $name;

            $(
                #[doc = $help]
                #[must_use]
                fn $field(mut self, value: impl $crate::IntoParam<$type>) -> Self {
                    self.$access().$field = $crate::IntoParam::into_param(value);
                    self
                }
            )*
        }

        impl $builder for $name {
            fn $access(&mut self) -> &mut $name {
                self
            }
        }
    };
}

/// Declares a struct that joins several groups of parameters into those of one component: a
/// learner, a metric or anything else that a spec names.
///
/// ```
/// use rankwright_spec::{ParamGroup, Spec, param_groups, params, read_spec};
///
/// params! {
///     /// Parameters of boosting.
///     pub struct BoostParams {
///         trees: u32 = 300, 1.., "Number of trees.";
///     }
///     /// Builder methods for the parameters of boosting.
///     pub trait BoostOptions: boost_params;
/// }
/// params! {
///     /// Parameters of a tree.
///     pub struct TreeParams {
///         leaves: u32 = 31, 1..=65536, "Maximum number of leaves of a tree.";
///     }
///     /// Builder methods for the parameters of a tree.
///     pub trait TreeOptions: tree_params;
/// }
/// param_groups! {
///     /// Boosted trees.
///     pub struct Mart {
///         boost: BoostParams, BoostOptions::boost_params;
///         tree: TreeParams = TreeParams::default().leaves(15), TreeOptions::tree_params;
///     }
/// }
///
/// let mart = Mart::default().trees(100).leaves(7);
/// assert_eq!(read_spec::<Mart>(&Spec::parse("mart(leaves=7, trees=100)")?)?, mart);
/// assert_eq!(Mart::default().defs()[1].default.as_deref(), Some("15"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
///
/// After the type of a group come the trait with its builder methods, and the method of that trait
/// that returns the group. Without `= value` a group has its own defaults. `requires "loss=huber"`
/// after a group makes that the condition of all its parameters that have no condition of their
/// own.
#[macro_export]
macro_rules! param_groups {
    (@default $group:ident = $default:expr) => { $default };
    (@default $group:ident) => { <$group as ::std::default::Default>::default() };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(, check = $check:path)? {
            $(
                $field:ident : $group:ident $(= $default:expr)?
                $(, $builder:ident :: $access:ident)?
                $(, requires $requires:literal)? ;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $( #[doc = concat!("Group of parameters: `", stringify!($group), "`.")] pub $field: $group, )*
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::param_groups!(@default $group $(= $default)?), )* }
            }
        }

        impl $crate::ParamGroup for $name {
            fn defs(&self) -> ::std::vec::Vec<$crate::ParamDef> {
                let mut defs = ::std::vec::Vec::new();
                $(
                    let condition: ::std::option::Option<&'static str> =
                        $crate::params!(@option $($requires)?);
                    defs.extend($crate::ParamGroup::defs(&self.$field).into_iter().map(|def| {
                        $crate::ParamDef { requires: def.requires.or(condition), ..def }
                    }));
                )*
                defs
            }

            fn set(&mut self, key: &str, text: &str) -> ::std::result::Result<bool, $crate::ValueError> {
                $( if $crate::ParamGroup::set(&mut self.$field, key, text)? {
                    return Ok(true);
                } )*
                Ok(false)
            }

            fn text(&self, key: &str) -> ::std::option::Option<::std::string::String> {
                $( if let Some(text) = $crate::ParamGroup::text(&self.$field, key) {
                    return Some(text);
                } )*
                None
            }

            fn check_values(
                &self,
            ) -> ::std::result::Result<(), (&'static str, $crate::ValueError)> {
                $( $crate::ParamGroup::check_values(&self.$field)?; )*
                Ok(())
            }

            fn check_together(&self) -> ::std::result::Result<(), $crate::Conflict> {
                $( $crate::ParamGroup::check_together(&self.$field)?; )*
                $( $check(self)?; )?
                Ok(())
            }
        }

        $( $(
            impl $builder for $name {
                fn $access(&mut self) -> &mut $group {
                    &mut self.$field
                }
            }
        )? )*
    };
}

/// Declares an enum whose variants have names in specs; the first one is the default. The
/// documentation of a variant is its help.
///
/// ```
/// use rankwright_spec::{NamedChoice, ParamValue, RangeDef, choices};
///
/// choices! {
///     /// Direction of a constraint.
///     #[derive(Hash)]
///     pub enum Direction {
///         /// A larger value never lowers the score.
///         Rising = "+",
///         /// A larger value never raises the score.
///         Falling = "-",
///     }
/// }
/// assert_eq!(Direction::Rising.name(), "+");
/// assert_eq!(Direction::read("-", &RangeDef::default()), Ok(Direction::Falling));
/// assert_eq!(Direction::ALL.len(), 2);
/// assert_eq!(Direction::choices()[1].help, "A larger value never raises the score.");
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $(#[doc = $first_doc:literal])* $first:ident = $first_text:literal
            $(, $(#[doc = $doc:literal])* $variant:ident = $text:literal )* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        $vis enum $name {
            $(#[doc = $first_doc])* #[default] $first,
            $( $(#[doc = $doc])* $variant, )*
        }

        impl $name {
            /// Every choice with its name in specs.
            pub const ALL: &'static [(&'static str, Self)] =
                &[($first_text, Self::$first) $(, ($text, Self::$variant))*];

            /// The name in specs.
            pub fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_text,
                    $( Self::$variant => $text, )*
                }
            }
        }

        $crate::json_by_text!(
            $name,
            |choice: &$name| choice.name(),
            |text: &str| $crate::private::json_choice(text, $name::ALL)
        );

        impl $crate::NamedChoice for $name {
            fn choices() -> ::std::vec::Vec<$crate::ChoiceDef<Self>> {
                ::std::vec![
                    $crate::ChoiceDef {
                        name: $first_text,
                        help: concat!($($first_doc),*).trim_ascii(),
                        value: Self::$first,
                    },
                    $( $crate::ChoiceDef {
                        name: $text,
                        help: concat!($($doc),*).trim_ascii(),
                        value: Self::$variant,
                    }, )*
                ]
            }
        }

        impl $crate::ParamValue for $name {
            fn kind() -> $crate::ParamKind {
                $crate::ParamKind::Choice {
                    values: Self::ALL.iter().map(|(name, _)| *name).collect(),
                }
            }

            fn read(
                text: &str,
                _: &$crate::RangeDef,
            ) -> ::std::result::Result<Self, $crate::ValueError> {
                $crate::private::choice_named(text, Self::ALL)
            }

            fn write(&self) -> ::std::string::String {
                self.name().to_owned()
            }
        }
    };
}
